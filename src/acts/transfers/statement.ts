// The statement of a transfer. Its long lists are parsed from its text on access, so that a transfer of ten thousand
// packages needs only as much memory as its statement has bytes.
import type { TransferBlob, TransferPackage, TransferPiece, TransferStatement } from '#contract/wire.ts';
import type { Sequence } from '#domain/sequence.ts';

export interface LazyTransferStatement extends Omit<TransferStatement, 'packages' | 'blobs' | 'parts'> {
  packages: Sequence<TransferPackage>;
  blobs: Sequence<TransferBlob>;
  parts: readonly Sequence<TransferPiece>[];
}

/** The feeds, fleets and releases of larder of a transfer, as globs name them. */
export const subjectsBesidePackages = ({
  feeds = [],
  fleets = [],
  'larder-releases': larderReleases = [],
}: Pick<LazyTransferStatement, 'feeds' | 'fleets' | 'larder-releases'>): { namespace: string; name: string }[] => [
  ...feeds.map(({ name }) => ({ namespace: 'feed', name })),
  ...fleets.map(({ name }) => ({ namespace: 'fleet', name })),
  ...larderReleases.map(({ version }) => ({ namespace: 'larder', name: version })),
];
