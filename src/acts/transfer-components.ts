// Components of snaps that a transfer carries: which assertions say what they are, and with which revisions of their snap they go.
import type { TransferPackage, TransferResource } from '#api/wire.ts';
import { HeaderReader } from '#assertions/headers.ts';
import { defaultProvenance } from '#assertions/types.ts';
import type { Planning } from './transfer-planning.ts';

type Component = TransferResource['revisions'][number];

/**
 * Whether assertions that are believed say all that the transfer says of a component: its bytes, its number, and each revision of the
 * snap that it goes with. `contradicted` where the one of these bytes says something else.
 */
export function vouchedFor(
  { id, revisions }: Pick<TransferPackage, 'id' | 'revisions'>,
  name: string,
  { content, revision, serves }: Component,
  { believed }: Pick<Planning, 'believed'>,
): boolean | 'contradicted' {
  if (content === undefined) return false;
  const digest = Buffer.from(content['sha3-384'], 'hex').toString('base64url');
  // It is of the provenance of its snap.
  const provenances = revisions.map(({ assertion }) => {
    const provenance = assertion === undefined ? undefined : believed(assertion)?.headers['provenance'];
    return typeof provenance === 'string' ? provenance : defaultProvenance;
  });
  for (const provenance of new Set([defaultProvenance, ...provenances])) {
    const said = believed(['snap-resource-revision', id, name, digest, provenance].join('/'));
    if (said === undefined) continue;
    const headers = new HeaderReader('snap-resource-revision assertion', said.headers);
    if (headers.count('resource-revision', 1) !== revision || headers.count('resource-size', 0) !== content.size)
      return 'contradicted';
    const pair = (of: number): string =>
      ['snap-resource-pair', id, name, revision, of, provenance].map(String).join('/');
    return serves.every((of) => believed(pair(of)) !== undefined);
  }
  return false;
}
