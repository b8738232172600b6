// What was half received is removed when nothing came for it any more: a worker that died has left it, or its sender has. A
// process that serves alone has nobody beside it who could receive, and clears such files away when it starts.
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long nothing has come. */
const still = days(1);

export const sweepTemporary = (
  { registryUploads }: Pick<Records, 'registryUploads'>,
  blobs: Pick<Blobs, 'sweepTemporary'>,
  now: Now,
): Job => ({
  name: 'sweep-temporary',
  inDoubt: 'waits',
  oncePer: 'host',
  every: hours(1),

  async run() {
    const moment = now();
    const swept = await blobs.sweepTemporary(async (id, changed) => {
      const at = await changed();
      if (at === undefined || at >= after(moment, -still)) return true;
      return (await registryUploads.find(id, timestamp(moment))) !== undefined;
    });
    return { swept };
  },
});
