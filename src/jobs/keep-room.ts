// Room on the disk: when the database can write no more, the ballast is given up, so that logins, deletions and the note of a
// backup go through while somebody makes room; it is set aside again when there is some.
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
export function keepRoom(release: () => Promise<boolean>, health: Pick<Health, 'report'>): RoomKeeper {
  let wasFull = false;
  return {
    makeRoom() {
      wasFull = true;
      health.report('disk-full', {});
      return release();
    },
    job: (blobs) => ({
      name: 'keep-room',
      inDoubt: 'runs',
      oncePer: 'process',
      every: minutes(1),
      async run() {
        const isKept = await blobs.keepBallast();
        const isWell = isKept && (await blobs.free()) > 0;
        if (isWell) wasFull = false;
        health.report('disk-full', !isWell && wasFull ? {} : undefined);
        health.report('disk-reserve', !isWell && !wasFull ? {} : undefined);
        return {};
      },
    }),
  };
}
