// The parts of a transfer that this store makes, for every way of accepting it: its own reviews, and credentials for
// its images.
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { StoreHandle } from '#data/store.ts';
import { findingsOf, keepIcon, kindOf } from '#jobs/uploads/findings.ts';
import { readFileBill, readImageBill } from '#jobs/vulnerabilities/read-bills.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { formatImageResource } from '#operations/resources/image-resource.ts';
import { newPullCredential, passwordOf } from '#registry/credentials.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { CredentialFor, FindingsOf, ImageBillOf } from '#transfers/review/reviews.ts';

type TransferReviewServices = Parameters<typeof keepIcon>[1] & {
  blobs: Blobs;
  reviewer: Reviewer;
  signal: AbortSignal;
  digests: { ofFile(file: string, algorithms: readonly ['sha384']): Promise<{ sha384: string }> };
};

/** The store's own review of received content. */
export const createTransferReview =
  ({ blobs, digests, reviewer, newId, signal }: TransferReviewServices): FindingsOf =>
  ({ type, name }, sha3_384) =>
    withFile(blobs, sha3_384, async (path) => {
      const kind = kindOf({ type: type as Parameters<typeof kindOf>[0]['type'] });
      const verdict = await reviewer.review({ kind, path, name, signed: true });
      if (!verdict.approved) return { refused: verdict.errors.map(({ message }) => message).join(' ') };
      const isCharm = verdict.kind === 'charm' || verdict.kind === 'bundle';
      const { sha384 } = isCharm ? await digests.ofFile(path, ['sha384']) : { sha384: '' };
      const findings = findingsOf(verdict, await keepIcon(verdict, { blobs, newId }), sha384);
      // A rock that is too large for the time limit of a push has no bill yet.
      return findings.kind === 'revision' && findings.bill === undefined
        ? { ...findings, bill: await untilAborted(readFileBill({ kind, path, name }, reviewer), signal) }
        : findings;
    });

/** Reads the contents of received images. */
export const createImageReading =
  (services: Pick<TransferReviewServices, 'blobs' | 'reviewer' | 'signal'>): ImageBillOf =>
  (image) =>
    untilAborted(readImageBill(image, services), services.signal);

/** Rejects as soon as the signal aborts: reading may take minutes, and ends when its reviewer is closed. */
async function untilAborted<Result>(reading: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([reading, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The pull credentials of this store for a repository of images, with the name of its own registry. */
export const createPullCredentials =
  ({ records, siteKey, newId, config }: Pick<StoreHandle, 'records' | 'siteKey' | 'newId' | 'config'>): CredentialFor =>
  async (repository, before) => {
    const existing = before ?? (await records.imageCredentials.toPull(repository));
    const made = existing ?? newPullCredential(newId, (secret, purpose) => seal(siteKey, secret, purpose)).credential;
    const { host } = new URL(config.http.base_url);
    const password = passwordOf(made, (sealed, purpose) => unseal(siteKey, sealed, purpose));
    return {
      credential: { kind: 'credential', secretSha256: '', ...made },
      textOf: (sha256) =>
        JSON.stringify(formatImageResource(host, repository, { sha256, username: made.id, password })),
    };
  };
