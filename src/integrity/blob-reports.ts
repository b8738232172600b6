// What somebody should know of content that is damaged, or that could not be read: which packages need it, and what to do.
import type { Records } from '#records/index.ts';
import type { Health } from '#src/health.ts';
import { contentName } from './content-name.ts';

export interface BlobReports {
  /** Looks up what is out of service, and says so. */
  damaged(): Promise<void>;
  /** Says that a blob could not be read, until it can. */
  unreadable(sha3_384: string): Promise<void>;
  /** Says that a blob was read, or is there no more. */
  settled(sha3_384: string): void;
}

/** So many are named; the rest are counted. */
const named = 3;
const counted = 1000;

export function blobReports(records: Records, health: Pick<Health, 'report'>): BlobReports {
  const unread = new Map<string, string>();

  const nameOf = (sha3_384: string): Promise<string> => contentName(records, sha3_384);

  function tellUnread(): void {
    const names = [...unread.values()];
    health.report(
      'unreadable-blobs',
      names.length === 0
        ? undefined
        : `Files of this store cannot be read: ${listOf(names.slice(0, named), names.length)}. Nothing was taken out of ` +
            "service for that. The disk may be failing: make a backup, and look at the system's log.",
    );
  }

  return {
    async damaged() {
      const all = await records.damagedBlobs.list(counted);
      const names = await Promise.all(all.slice(0, named).map(({ sha3_384 }) => nameOf(sha3_384)));
      health.report(
        'damaged-blobs',
        all.length === 0
          ? undefined
          : `Files of this store are damaged and out of service: ${listOf(names, all.length)}. Upload the same files ` +
              "again, or restore them from a backup; 'larder verify' names all.",
      );
    },
    async unreadable(sha3_384) {
      unread.set(sha3_384, await nameOf(sha3_384));
      tellUnread();
    },
    settled(sha3_384) {
      if (unread.delete(sha3_384)) tellUnread();
    },
  };
}

const listOf = (names: string[], all: number): string =>
  names.join('; ') + (all > names.length ? `; and ${String(all - names.length)} more` : '');
