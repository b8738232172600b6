// Releases the ballast when the database can no longer write, so that logins, deletions and the record of a backup succeed while the
// administrator frees space. Restores the ballast when space is available.
import { ballastBytes } from '#blobs/ballast.ts';
import type { DiskBlobs } from '#blobs/disk.ts';
import { minutes } from '#domain/clock.ts';
import type { Health } from '#platform/health.ts';
import type { BackgroundJob } from '../runner.ts';

export interface RoomKeeper {
  /** Releases the ballast. Returns false if it was already released. */
  makeRoom(): Promise<boolean>;
  /** Restores the ballast. */
  job(blobs: Pick<DiskBlobs, 'keepBallast' | 'free'>): BackgroundJob;
}

/** `release` releases the ballast, if there is one. It is a parameter because the records may need the space before the blobs are open. */
export function keepRoom(release: () => Promise<boolean>, health: Pick<Health, 'report' | 'watch'>): RoomKeeper {
  let wasFull = false;
  let releaseCount = 0;
  let free = (): Promise<number> => Promise.resolve(0);
  // The job restores the ballast within a minute; the fault clears as soon as there is space for it.
  health.watch('disk-full', async () => (wasFull && (await free()) < ballastBytes ? {} : undefined));
  return {
    makeRoom() {
      wasFull = true;
      releaseCount++;
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
          const before = releaseCount;
          // A release while the ballast was being written counts: the disk is full again.
          if ((await blobs.keepBallast()) && releaseCount === before) wasFull = false;
          return {};
        },
      };
    },
  };
}
