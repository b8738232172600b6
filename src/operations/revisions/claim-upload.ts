// Claiming an upload for a package: what pushing a revision and pushing a resource have in common.
import { Refusal } from '#domain/refusal.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import type { Claim } from '#records/uploads.ts';

/** A path without host and prefix, as the clients put their own before it. */
export const statusUrl = ({ namespace, name }: { namespace: string; name: string }, uploadId: string): string =>
  `/v1/${namespace}/${name}/revisions/review?upload-id=${encodeURIComponent(uploadId)}`;

/** Claims an upload. A retry finds its first attempt, and changes nothing. */
export async function claimUpload(
  records: Pick<Records, 'change' | 'uploads'>,
  entry: AuditEntry,
  id: string,
  claim: Claim,
): Promise<void> {
  const resource = claim.resource?.name ?? null;
  const known = await records.uploads.review(claim.packageId, id);
  if (known?.resource === resource) return;
  await records.change(entry, async (tx, note) => {
    if (await tx.uploads.claim(id, claim)) {
      // What a stranger sends is in no log before somebody claims it: so this says where it came from.
      const { address, receivedAt, size, sha3_384 } = (await tx.uploads.find(id))!;
      note({ from: address, 'received-at': receivedAt, size, 'sha3-384': sha3_384 });
      return;
    }
    if ((await tx.uploads.review(claim.packageId, id))?.resource === resource) return;
    throw new Refusal(
      'resource-not-found',
      `There is no upload '${id}' to push; send the file to /unscanned-upload/ first.`,
    );
  });
}
