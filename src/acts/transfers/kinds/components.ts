// Checks the components of snaps in a transfer against the assertions that identify them and pair them with revisions
// of their snap.
import type { TransferPackage, TransferResource } from '#contract/wire.ts';
import { HeaderReader } from '#assertions/format/headers.ts';
import { defaultProvenance } from '#assertions/format/types.ts';
import type { TransferPlanInputs } from '../plan-types.ts';

type TransferComponent = TransferResource['revisions'][number];

/**
 * Whether believed assertions confirm a component completely: its bytes, its number, and each revision of the snap that
 * it serves. Returns `contradicted` if the assertion about these bytes says something else.
 */
export function verifyComponent(
  { id, revisions }: Pick<TransferPackage, 'id' | 'revisions'>,
  name: string,
  { content, revision, serves }: TransferComponent,
  { believed }: Pick<TransferPlanInputs, 'believed'>,
): boolean | 'contradicted' {
  if (content === undefined) return false;
  const digest = Buffer.from(content['sha3-384'], 'hex').toString('base64url');
  // A component has the provenance of its snap.
  const provenances = revisions.map(({ assertion }) => {
    const provenance = assertion === undefined ? undefined : believed(assertion)?.headers['provenance'];
    return typeof provenance === 'string' ? provenance : defaultProvenance;
  });
  for (const provenance of new Set([defaultProvenance, ...provenances])) {
    const assertion = believed(['snap-resource-revision', id, name, digest, provenance].join('/'));
    if (assertion === undefined) continue;
    const headers = new HeaderReader('snap-resource-revision assertion', assertion.headers);
    if (headers.count('resource-revision', 1) !== revision || headers.count('resource-size', 0) !== content.size)
      return 'contradicted';
    const pair = (of: number): string =>
      ['snap-resource-pair', id, name, revision, of, provenance].map(String).join('/');
    return serves.every((of) => believed(pair(of)) !== undefined);
  }
  return false;
}
