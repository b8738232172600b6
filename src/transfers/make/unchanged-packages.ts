// Finds packages that a site has already received unchanged, so that a transfer can leave them out.
import { createDigest } from '#domain/cryptography.ts';
import { loadPrerequisites } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/format/types.ts';
import type { TransferBase, TransferPackage } from '#contract/wire.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { StoreRecords } from '#records/index.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';

/** Returns a digest per package: over its entry in the statement, and over the revisions of the assertions that it needs. */
export async function digestsOf(
  packages: Sequence<TransferPackage>,
  { assertions }: Pick<StoreRecords, 'assertions'>,
): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const entry of packages) {
    const assertionNames = entry.revisions.flatMap(({ assertion }) => assertion ?? []).sort();
    const rested =
      assertionNames.length === 0 ? [] : await loadPrerequisites(assertionNames, (names) => assertions.listOf(names));
    const revisionLines = rested.map((assertion) => `${nameOf(assertion)} ${String(assertion.revision)}`).sort();
    digests.set(
      entry.id,
      createDigest('content sha256')
        .update(toCanonicalText([entry, revisionLines]))
        .digest('hex'),
    );
  }
  return digests;
}

/** Returns the packages that were sent to a site unchanged, and the base that lists the numbers of those transfers. */
export async function findUnchanged(
  base: TransferBase,
  digests: ReadonlyMap<string, string>,
  { transfers }: Pick<StoreRecords, 'transfers'>,
): Promise<{ unchanged: ReadonlySet<string>; base: TransferBase }> {
  if (base.kind !== 'sent' || base.site === undefined) return { unchanged: new Set(), base };
  const previous = await transfers.toldOf(base.site);
  const unchanged = new Set(
    [...digests].filter(([id, digest]) => previous.get(id)?.digest === digest).map(([id]) => id),
  );
  if (unchanged.size === 0) return { unchanged, base };
  const numbers = new Set([...unchanged].map((id) => previous.get(id)!.sequence));
  return { unchanged, base: { ...base, 'rests-on': [...numbers].sort((a, b) => a - b) } };
}
