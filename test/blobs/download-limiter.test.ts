// How many files are sent at the same time, and how much of them.
import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import { createDownloadLimiter, type DownloadLimits } from '#blobs/download-limiter.ts';
import { processName } from '#shared/processes.ts';
import { sharesOf } from '#test/fixtures/processes/shares.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import { until } from '#test/fixtures/until.ts';

const refused = { code: 'too-many-requests', status: 429 };

/** The downloads of one store at two processes, on a clock that stands still. */
async function twoProcesses(t: Parameters<typeof openRecords>[0], limits: DownloadLimits) {
  const clock = { now: Date.parse('2026-11-22T00:00:00Z') };
  const now = () => new Date(clock.now);
  const both = await openRecords(t, 2);
  const [limiter, otherLimiter] = both.map((records, at) => {
    const shares = sharesOf(records, `${processName()} ${at}`);
    const downloads = createDownloadLimiter({ limits: () => limits, shares, now, elapsed: () => clock.now });
    t.teardown(() => {
      downloads.close();
    });
    return downloads;
  });
  return { clock, here: limiter!, there: otherLimiter! };
}

t.test('two processes share the places, and release places that they do not need', async (t) => {
  const { here: limiter, there: otherLimiter } = await twoProcesses(t, { max_downloads: 2 });
  const first = await limiter.begin(10);
  const second = await limiter.begin(10);
  await t.rejects(otherLimiter.begin(10), { ...refused, retryAfter: 10, message: /maximum of simultaneous downloads/ });
  await t.rejects(limiter.begin(10), refused);
  first(10);
  first(10);
  await until(async () => (await otherLimiter.begin(10).catch(() => undefined)) !== undefined);
  await t.rejects(limiter.begin(10), refused, 'what has ended twice gave back one place');
  second(0);
  await until(async () => (await otherLimiter.begin(10).catch(() => undefined)) !== undefined);
});

t.test('a reload applies to the next download', async (t) => {
  const limits: DownloadLimits = {};
  const { here: limiter } = await twoProcesses(t, limits);
  await limiter.begin(1e12);
  limits.max_downloads = 1;
  await limiter.begin(1);
  await t.rejects(limiter.begin(1), refused);
  limits.max_downloads = 2;
  await limiter.begin(1);
});

t.test('bytes that were reserved and not sent are released', async (t) => {
  const { clock, here: limiter } = await twoProcesses(t, { max_download_rate: 1000 });
  const large = await limiter.begin(1e9);
  await t.rejects(limiter.begin(1), { ...refused, retryAfter: 3600, message: /try again in 3600 seconds/ });
  large(60_500);
  await t.rejects(limiter.begin(1), { ...refused, retryAfter: 1 });
  clock.now += seconds(1);
  const small = await limiter.begin(400);
  small(500);
  await limiter.begin(1000);
  await t.rejects(limiter.begin(1), refused);
  clock.now -= minutes(60);
  await t.rejects(limiter.begin(1), refused, 'a clock that is set back makes no room');
});

t.test('a rate of nothing lets nothing out', async (t) => {
  const { here: limiter } = await twoProcesses(t, { max_download_rate: 0 });
  await t.rejects(limiter.begin(1), { ...refused, retryAfter: 3600 });
});
