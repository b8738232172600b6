// Job that removes abandoned temporary files of received content, left by a crashed process or a lost client. A process that
// starts alone removes such files at once; beside another server or a command it cannot tell which are in use.
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** Age of the last write after which a file counts as abandoned. */
const still = days(1);

export const sweepTemporary = (
  { registryUploads }: Pick<StoreRecords, 'registryUploads'>,
  blobs: Pick<Blobs, 'sweepTemporary'>,
  now: Now,
): BackgroundJob => ({
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
