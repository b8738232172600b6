// Reviews a release of larder in a transfer: its signatures, and the digest of each file.
import type { TransferLarderRelease } from '#contract/wire.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { proveCarried } from '../larder-release/carried-release.ts';
import { UntrustedRelease } from '../larder-release/untrusted-release.ts';
import { missingContent, type TransferReviewResult } from './text-reviews.ts';

interface LarderReleaseReviewContext {
  blobs: Pick<Blobs, 'open' | 'prove' | 'makeLocalCopy'>;
  digests: Pick<DigestPool, 'ofFile'>;
}

/**
 * Returns undefined if the keys of this program do not trust the release: each preview says so too, and a later release of larder may trust
 * it.
 */
export async function reviewLarderRelease(
  release: TransferLarderRelease,
  { blobs, digests }: LarderReleaseReviewContext,
): Promise<TransferReviewResult | undefined> {
  for (const { content } of release.files) if (!(await blobs.prove(content['sha3-384']))) return missingContent;
  try {
    await proveCarried(release, blobs);
  } catch (error) {
    if (!(error instanceof UntrustedRelease)) throw error;
    return undefined;
  }
  for (const { name, content } of release.files) {
    // Contents that were here before have only the digest that names them.
    const { sha256 } = await withFile(blobs, content['sha3-384'], (file) => digests.ofFile(file, ['sha256']));
    if (sha256 !== content.sha256) return { refused: `${name} is not the file that was signed.` };
  }
  return { kind: 'larder-release' };
}
