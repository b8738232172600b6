// Finds packages that a site has already received unchanged, so that a transfer can leave them out.
import { createHash } from 'node:crypto';

import { restedOn } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/types.ts';
import type { TransferBase, TransferPackage } from '#api/wire.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { Records } from '#records/index.ts';
import { canonical } from './form/canonical.ts';

/** Returns a digest per package of its metadata and its assertions. */
export async function digestsOf(
  packages: Sequence<TransferPackage>,
  { assertions }: Pick<Records, 'assertions'>,
): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const one of packages) {
    const named = one.revisions.flatMap(({ assertion }) => assertion ?? []).sort();
    const rested = named.length === 0 ? [] : await restedOn(named, (names) => assertions.listOf(names));
    const said = rested.map((one) => `${nameOf(one)} ${String(one.revision)}`).sort();
    digests.set(
      one.id,
      createHash('sha256')
        .update(canonical([one, said]))
        .digest('hex'),
    );
  }
  return digests;
}

/** Returns the packages that were sent to a site unchanged, and the base that lists the numbers of those transfers. */
export async function toldBefore(
  base: TransferBase,
  digests: ReadonlyMap<string, string>,
  { transfers }: Pick<Records, 'transfers'>,
): Promise<{ unchanged: ReadonlySet<string>; base: TransferBase }> {
  if (base.kind !== 'sent' || base.site === undefined) return { unchanged: new Set(), base };
  const told = await transfers.toldOf(base.site);
  const unchanged = new Set([...digests].filter(([id, digest]) => told.get(id)?.digest === digest).map(([id]) => id));
  if (unchanged.size === 0) return { unchanged, base };
  const numbers = new Set([...unchanged].map((id) => told.get(id)!.sequence));
  return { unchanged, base: { ...base, 'rests-on': [...numbers].sort((a, b) => a - b) } };
}
