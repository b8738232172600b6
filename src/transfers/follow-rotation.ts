// Follows a rotation of the keys of a source, for commands on the host and for pages.
import type { StoreRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { Actor, Acts } from '#acts/act.ts';
import { noteCopiedKey, provesCopy, rotateSource } from '#acts/sites/sites.ts';
import { refuseCopiedKey } from '#acts/sites/source-trust.ts';

export interface SignedRotation {
  rotation: Pick<TransferSource, 'keys' | 'threshold' | 'rotation'> & { site: string };
  /** Returns those of the keys that have signed the rotation. */
  signedBy(keys: readonly string[]): string[];
}

/**
 * Replaces the keys of a source by new keys that the old ones have signed. If the rotation proves that a key was copied,
 * the source is blocked instead, and the rotation is refused.
 */
export async function followRotation(
  { acts, records }: { acts: Pick<Acts, 'do'>; records: Pick<StoreRecords, 'transferSources'> },
  actor: Actor,
  { rotation: { site: name, keys, threshold, rotation }, signedBy }: SignedRotation,
): Promise<void> {
  const source = await records.transferSources.find(name);
  const knownKeys = source === undefined ? [] : [...source.keys, ...source.keysBefore.flatMap((former) => former.keys)];
  const rotated = { name, keys, threshold, rotation, signers: signedBy(knownKeys) };
  if (source !== undefined && provesCopy(source, rotated)) {
    await acts.do(noteCopiedKey, actor, rotated);
    refuseCopiedKey({ name, keyCopiedAt: 'now' });
  }
  await acts.do(rotateSource, actor, rotated);
}
