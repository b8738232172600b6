// Counts the work that waits for people, by kind.
import { timestamp } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import { requestedKeys } from './request/requested-keys.ts';

export interface PendingKind {
  /** In the singular, such as 'key request'. */
  kind: 'upload' | 'proposal' | 'transfer' | 'key request' | 'paused rollout';
  count: number;
}

type PendingRecords = Pick<StoreRecords, 'pending'> & Parameters<typeof requestedKeys>[0];

/** Returns all kinds, including those with a count of zero. */
export async function pendingWork(records: PendingRecords, now: Date): Promise<PendingKind[]> {
  const { proposals, transfers, keyRequests, rollouts } = await records.pending.counts(timestamp(now));
  return [
    { kind: 'upload', count: await records.pending.countUploads() },
    { kind: 'proposal', count: proposals },
    { kind: 'transfer', count: transfers },
    // The assertions show which requests have been answered.
    { kind: 'key request', count: keyRequests === 0 ? 0 : (await requestedKeys(records, now)).length },
    { kind: 'paused rollout', count: rollouts },
  ];
}
