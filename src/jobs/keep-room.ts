// Room on the disk: when the database can write no more, the ballast is given up, so that logins, deletions and the note of a
// backup go through while somebody makes room; it is set aside again when there is some.
import { ballastBytes } from '#blobs/ballast.ts';
import type { DiskBlobs } from '#blobs/disk.ts';
import { minutes } from '#domain/clock.ts';
import type { Health } from '#src/health.ts';
import type { Job } from './runner.ts';

export interface RoomKeeper {
  /** Gives up the ballast; false when it is gone already. */
  makeRoom(): Promise<boolean>;
  /** Sets the ballast aside again. */
  job(blobs: Pick<DiskBlobs, 'keepBallast' | 'free'>): Job;
}

/** `release` gives up the ballast, where there is one: the records may need its room before the blobs are open. */
export function keepRoom(release: () => Promise<boolean>, health: Pick<Health, 'report' | 'watch'>): RoomKeeper {
  let wasFull = false;
  let free = (): Promise<number> => Promise.resolve(0);
  // The ballast is set aside again within a minute; the fault is gone as soon as there is room for it.
  health.watch('disk-full', async () => (wasFull && (await free()) < ballastBytes ? {} : undefined));
  return {
    makeRoom() {
      wasFull = true;
      health.report('disk-full', {});
      return release();
    },
    job(blobs) {
      free = () => blobs.free();
      return {
        name: 'keep-room',
        inDoubt: 'runs',
        oncePer: 'process',
        every: minutes(1),
        async run() {
          if (await blobs.keepBallast()) wasFull = false;
          return {};
        },
      };
    },
  };
}
