// Requests that are counted in plain numbers are exported like counters of the Prometheus client.
import fc from 'fast-check';
import { AggregatorRegistry, Counter, Histogram, Registry } from 'prom-client';
import t from 'tap';

import { createRequestCounts, type RequestCounts } from '#http/metrics/request-counts.ts';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600];

/** The same figures by the counters of the library. */
function plainly(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'larder_requests_total',
    help: 'Answered requests.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'larder_request_duration_seconds',
    help: 'Time from the first header to the response.',
    labelNames: ['operation'],
    buckets,
    registers,
  });
  return (operation: string, status: number, seconds: number) => {
    requests.inc({ operation, status });
    duration.observe({ operation }, seconds);
  };
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .sort();

/** The counts of several processes together. */
const addedUp = (processes: RequestCounts[]): Promise<string> =>
  AggregatorRegistry.aggregate(processes.map((counts) => counts.figures())).metrics();

t.test('any number of requests gives the same lines', async () => {
  const answered = fc.tuple(
    fc.constantFrom('register_name', 'release', 'none'),
    fc.constantFrom(200, 404, 503),
    fc.oneof(
      fc.constantFrom(0, ...buckets),
      fc.integer({ min: 0, max: 4096 }).map((parts) => parts / 4),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(answered), { maxLength: 3 }), async (scrapes) => {
      const [ours, theirs] = [createRequestCounts(), new Registry()];
      const countPlainly = plainly(theirs);
      for (const requests of scrapes) {
        for (const request of requests) {
          ours.count(...request);
          countPlainly(...request);
        }
        const expected = linesOf(await theirs.metrics());
        for (const text of [ours.text(), await addedUp([ours])]) {
          const actual = linesOf(text);
          if (JSON.stringify(actual) !== JSON.stringify(expected)) {
            throw new Error(`${actual.join('\n')}\n\nis not\n\n${expected.join('\n')}`);
          }
        }
      }
    }),
    { numRuns: 200 },
  );
});

t.test('the counts of two processes are added up', async (t) => {
  const [first, second] = [createRequestCounts(), createRequestCounts()];
  first.count('release', 200, 0.5);
  second.count('release', 200, 0.002);
  second.count('release', 404, 700);
  const text = await addedUp([first, second]);
  for (const line of [
    'larder_requests_total{operation="release",status="200"} 2',
    'larder_requests_total{operation="release",status="404"} 1',
    'larder_request_duration_seconds_bucket{le="0.0025",operation="release"} 1',
    'larder_request_duration_seconds_bucket{le="0.5",operation="release"} 2',
    'larder_request_duration_seconds_bucket{le="+Inf",operation="release"} 3',
    'larder_request_duration_seconds_sum{operation="release"} 700.502',
    'larder_request_duration_seconds_count{operation="release"} 3',
  ])
    t.ok(text.includes(`${line}\n`), line);
});
