// Reports corrupt and unreadable blobs to the administrator: which packages need them, and what to do.
import type { StoreRecords } from '#records/index.ts';
import type { FactsOf } from '#platform/faults.ts';
import type { Health } from '#platform/health.ts';
import { contentName } from './content-name.ts';

export interface BlobReports {
  /** Reports all blobs in quarantine. */
  damaged(): Promise<void>;
  /** Reports that a blob could not be read, until it can be. */
  unreadable(sha3_384: string): Promise<void>;
  /** Ends that report: the blob was read, or no longer exists. */
  settled(sha3_384: string): void;
}

/** How many blobs a report names; the others are counted. */
const maxNames = 3;
const counted = 1000;

export function blobReports(records: StoreRecords, health: Pick<Health, 'report'>): BlobReports {
  const unread = new Map<string, string>();

  const nameOf = (sha3_384: string): Promise<string> => contentName(records, sha3_384);

  function tellUnread(): void {
    const names = [...unread.values()];
    health.report(
      'unreadable-blobs',
      names.length === 0 ? undefined : { names: names.slice(0, maxNames), all: names.length },
    );
  }

  return {
    async damaged() {
      health.report('damaged-blobs', await damagedFacts(records));
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

/** Returns the facts about blobs in quarantine. */
export async function damagedFacts(records: StoreRecords): Promise<FactsOf<'damaged-blobs'> | undefined> {
  const all = await records.damagedBlobs.list(counted);
  if (all.length === 0) return undefined;
  const names = await Promise.all(all.slice(0, maxNames).map(({ sha3_384 }) => contentName(records, sha3_384)));
  return { names, all: all.length };
}
