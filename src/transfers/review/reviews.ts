// Reviews the received contents of a transfer with the same checks as pushed uploads.
import { computeDigest, randomUUID } from '#domain/cryptography.ts';
import {
  contentMissing,
  imageContentsSubject,
  parseFindings,
  subjectOf,
  type CredentialFindings,
  type FindingsOfKind,
} from '#acts/transfers/findings.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { readManifest } from '#registry/image-manifest.ts';
import type { TransferPackage } from '#contract/wire.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Repository } from '#records/images/images.ts';
import type { TransferFinding } from '#records/transfers/transfers.ts';
import { readInBatches } from '#records/vulnerabilities/in-batches.ts';
import type { Findings } from '#records/uploads/uploads.ts';
import { heldUntil } from '../receive/content-receiver.ts';
import { feedSubject } from '#acts/transfers/kinds/feeds.ts';
import { larderReleaseSubject } from '#acts/transfers/kinds/larder-releases.ts';
import { reviewFeed } from './feed-reviews.ts';
import { reviewLarderRelease } from './larder-release-reviews.ts';
import { missingContent, textSubjects, textsHeld, type TransferReviewResult } from './text-reviews.ts';
import { readBlob } from '../blob-bytes.ts';

export interface TransferReviewContext {
  records: StoreRecords;
  blobs: Blobs;
  digests: DigestPool;
  findingsOf: FindingsOf;
  imageBillOf: ImageBillOf;
  credentialFor: CredentialFor;
  now: Now;
  /** Whether the folder is a site's former store, to be adopted by an empty store: a job reads its images later. */
  isAdoption?: boolean;
  /** Aborts the review. Findings so far are kept. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
}

/** Returns the findings about the content of a revision, or why it is refused. */
export type FindingsOf = (subject: TransferPackage, sha3_384: string) => Promise<Findings | { refused: string }>;

/** Reads the bill of materials of an image from received content; undefined if some of it is missing or corrupt. */
export type ImageBillOf = (image: {
  /** The SHA3-384 of the manifest. */
  manifest: string;
  parts: { sha256: string; sha512: null; sha3_384: string }[];
}) => Promise<BillOfMaterials | undefined>;

/**
 * Returns the local pull credential of an image repository, new or existing, and a function for the content of a resource that names an
 * image.
 */
export type CredentialFor = (
  repository: Repository,
  before: CredentialFindings | undefined,
) => Promise<{ credential: CredentialFindings; textOf: (sha256: string) => string }>;

/** Packages handled concurrently: while one is reviewed, the contents of others are verified. */
const packageConcurrency = 4;
/** Findings stored per commit. The main thread waits for the disk in each commit; lost findings are computed again, a thousand in a second. */
const findingsPerCommit = 1000;

/** Reviews all received contents without findings, except those already in the store. */
export async function reviewTransfer(
  statement: LazyTransferStatement,
  id: string,
  reviewing: TransferReviewContext,
): Promise<void> {
  const { records, progress, signal } = reviewing;
  const keeper = new FindingsKeeper(statement, id, records);
  const reviewed = await records.transfers.reviewed(id);
  let done = 0;
  for (const feed of statement.feeds ?? []) {
    const subject = feedSubject(feed.name);
    if (reviewed.has(subject)) continue;
    const result = await reviewFeed(feed, reviewing);
    if (!('refused' in result && result.refused === contentMissing)) await keeper.keep(subject, result);
  }
  for (const release of statement['larder-releases'] ?? []) {
    const subject = larderReleaseSubject(release.version);
    if (reviewed.has(subject)) continue;
    const result = await reviewLarderRelease(release, reviewing);
    if (result !== undefined && !('refused' in result && result.refused === contentMissing))
      await keeper.keep(subject, result);
  }
  const waiting = statement.packages.values();
  const work = async (): Promise<void> => {
    for (const entry of waiting) {
      signal.throwIfAborted();
      const unknown = subjectsOf(entry, reviewing, keeper).filter(({ subject }) => !reviewed.has(subject));
      const isHere = unknown.length === 0 ? reviewed : await heldAlready(entry, records);
      for (const { subject, review } of unknown) {
        signal.throwIfAborted();
        if (isHere.has(subject)) continue;
        const result = await review();
        // Do not store missing content as a finding: it may still arrive, and stored findings are final.
        if (!('refused' in result && result.refused === contentMissing)) await keeper.keep(subject, result);
      }
      progress('review', ++done, statement.packages.length);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: packageConcurrency }, work));
  await keeper.flush();
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Returns the subjects of a package that are already in the store with the same content, so that they need no review. */
async function heldAlready(entry: TransferPackage, records: StoreRecords): Promise<Set<string>> {
  const { id, revisions } = entry;
  const held = await records.revisions.listOf(
    id,
    revisions.map(({ revision }) => revision),
  );
  const contents = new Map(held.map(({ revision, sha3_384 }) => [revision, sha3_384]));
  const same = revisions
    .filter(({ revision, content }) => contents.get(revision) === content['sha3-384'])
    .map(({ revision }) => subjectOf(id, revision));
  return new Set([...same, ...(await textsHeld(entry, records)), ...(await imagesRead(entry, records))]);
}

/** Returns the subjects of images that the store has read. */
async function imagesRead(
  { id, images }: TransferPackage,
  { billsOfMaterials }: Pick<StoreRecords, 'billsOfMaterials'>,
): Promise<string[]> {
  const read: string[] = [];
  for (const { resource, manifests } of images) {
    const repository = { packageId: id, resource };
    const digests = manifests.map(({ content }) => content.sha256);
    for (const sha256 of await readInBatches(digests, (batch) => billsOfMaterials.readAmong(repository, batch)))
      read.push(imageContentsSubject(id, resource, sha256));
  }
  return read;
}

/** Stores findings in batches. Findings not stored when the process ends are computed again. */
export class FindingsKeeper {
  readonly #id: string;
  readonly #endsAt: string;
  readonly #records: StoreRecords;
  #waiting: { finding: TransferFinding; made: string[] }[] = [];
  /** Credentials found in this run. They are needed again, possibly before they are stored. */
  readonly #credentials = new Map<string, CredentialFindings>();

  constructor(statement: LazyTransferStatement, id: string, records: StoreRecords) {
    this.#id = id;
    this.#endsAt = heldUntil(statement);
    this.#records = records;
  }

  /** Returns the credential found earlier for a repository. */
  async credential(subject: string): Promise<CredentialFindings | undefined> {
    return (
      this.#credentials.get(subject) ??
      parseFindings('credential', await this.#records.transfers.finding(this.#id, subject))
    );
  }

  async keep(subject: string, result: TransferReviewResult): Promise<void> {
    const finding: TransferFinding =
      'refused' in result
        ? { subject, findings: null, refused: result.refused }
        : { subject, findings: JSON.stringify(result), refused: null };
    if ('kind' in result && result.kind === 'credential') this.#credentials.set(subject, result);
    this.#waiting.push({ finding, made: madeFor(result) });
    // Reading an image again would take longer than a commit.
    const isCostly = 'kind' in result && result.kind === 'image-contents';
    if (isCostly || this.#waiting.length >= findingsPerCommit) await this.flush();
  }

  async flush(): Promise<void> {
    const some = this.#waiting;
    this.#waiting = [];
    if (some.length === 0) return;
    await this.#records.ephemeral(async ({ transfers }) => {
      for (const { finding, made } of some) {
        for (const sha3_384 of made) await transfers.arrive(this.#id, sha3_384, this.#endsAt);
        await transfers.found(this.#id, finding, this.#endsAt);
      }
    });
  }
}

/** Contents that a review has created. They are kept with the others. */
function madeFor(result: TransferReviewResult): string[] {
  if ('icon' in result && typeof result.icon === 'string') return [result.icon.slice(0, 96)];
  return 'content' in result ? [result.content['sha3-384']] : [];
}

interface Subject {
  subject: string;
  review: () => Promise<TransferReviewResult>;
}

function subjectsOf(entry: TransferPackage, reviewing: TransferReviewContext, keeper: FindingsKeeper): Subject[] {
  const { blobs, findingsOf, imageBillOf, isAdoption = false } = reviewing;
  const ifPresent = (sha3_384: string, review: Subject['review']) => async (): Promise<TransferReviewResult> =>
    (await blobs.prove(sha3_384)) ? review() : missingContent;
  const own = entry.revisions.map(({ revision, content: { 'sha3-384': sha3_384 } }) => ({
    subject: subjectOf(entry.id, revision),
    review: ifPresent(sha3_384, () => findingsOf(entry, sha3_384)),
  }));
  const resourceReviews = entry.resources.flatMap((resource) => resourceSubjects(entry, resource, reviewing, keeper));
  const images = entry.images.flatMap((image) => {
    const imageDigests = new Set([
      ...image.manifests.map(({ content }) => content.sha256),
      ...image.blobs.map((blob) => blob.sha256),
    ]);
    const contentBySha256 = new Map(image.blobs.map((blob) => [blob.sha256, blob['sha3-384']]));
    return image.manifests.flatMap(({ content: { sha256, 'sha3-384': sha3_384, size }, 'media-type': mediaType }) => {
      const review = ifPresent(sha3_384, () => manifestIn(blobs, { sha3_384, size, mediaType }, imageDigests));
      const readContents = () => contentsIn(review, { sha3_384, contentBySha256 }, imageBillOf);
      const contents = { subject: imageContentsSubject(entry.id, image.resource, sha256), review: readContents };
      return [{ subject: subjectOf(entry.id, image.resource, sha256), review }, ...(isAdoption ? [] : [contents])];
    });
  });
  return [...own, ...resourceReviews, ...images, ...textSubjects(entry, blobs)];
}

function resourceSubjects(
  { id: packageId }: TransferPackage,
  { name: resource, revisions }: TransferPackage['resources'][number],
  { blobs, digests, credentialFor }: TransferReviewContext,
  keeper: FindingsKeeper,
): Subject[] {
  const repository = { packageId, resource };
  const credential = subjectOf(packageId, resource, 'credential');
  const credentials: Subject[] = revisions.some(({ image }) => image !== undefined)
    ? [{ subject: credential, review: async () => (await credentialFor(repository, undefined)).credential }]
    : [];
  const own = revisions.map(({ revision, content, image }) => ({
    subject: subjectOf(packageId, resource, revision),
    async review(): Promise<TransferReviewResult> {
      if (image !== undefined) {
        const { textOf } = await credentialFor(repository, await keeper.credential(credential));
        return madeResource(Buffer.from(textOf(image)), blobs);
      }
      if (content === undefined || !(await blobs.prove(content['sha3-384']))) return missingContent;
      const computed = await withFile(blobs, content['sha3-384'], (file) => digests.ofFile(file, ['sha384', 'sha512']));
      return { kind: 'resource', ...computed };
    },
  }));
  return [...credentials, ...own];
}

async function madeResource(bytes: Buffer, blobs: Pick<Blobs, 'put'>): Promise<FindingsOfKind<'resource'>> {
  const { sha256, sha3_384, size } = await blobs.put(bytes, { id: randomUUID() });
  const content = { sha256, 'sha3-384': sha3_384, size };
  return {
    kind: 'resource',
    sha384: computeDigest('content sha384', bytes),
    sha512: computeDigest('content sha512', bytes),
    content,
  };
}

const maxManifestBytes = 4 * 1024 * 1024;

/** Returns the content of a manifest. Refuses if the transfer does not contain all parts of the image. */
async function manifestIn(
  blobs: Pick<Blobs, 'open'>,
  { sha3_384, size, mediaType }: { sha3_384: string; size: number; mediaType: string },
  imageDigests: ReadonlySet<string>,
): Promise<FindingsOfKind<'manifest'> | { refused: string }> {
  if (size > maxManifestBytes) return { refused: 'A manifest may have at most 4 MiB.' };
  const bytes = await readBlob(blobs, sha3_384);
  if (bytes === undefined) return missingContent;
  try {
    const { parts, children, about } = readManifest(mediaType, bytes);
    const references = [...parts, ...(children ?? [])];
    const lost = references.find(
      ({ digits, mayBeElsewhere }) => !mayBeElsewhere && !(digits !== undefined && imageDigests.has(digits)),
    );
    if (lost !== undefined) return { refused: `It names ${lost.digest.slice(0, 140)}, which is not in the transfer.` };
    const digitsOf = (some: typeof references): string[] =>
      some.flatMap(({ digits }) => (digits !== undefined && imageDigests.has(digits) ? digits : []));
    return {
      kind: 'manifest',
      parts: digitsOf(parts),
      ...(children !== undefined && { children: digitsOf(children) }),
      ...(about !== undefined && { about: { ...about, subject: about.subject.digits } }),
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.message };
  }
}

/** Reads the contents of an image, if its manifest is valid. */
async function contentsIn(
  reviewManifest: () => Promise<TransferReviewResult>,
  { sha3_384, contentBySha256 }: { sha3_384: string; contentBySha256: ReadonlyMap<string, string> },
  imageBillOf: ImageBillOf,
): Promise<TransferReviewResult> {
  const manifest = await reviewManifest();
  if ('refused' in manifest || manifest.kind !== 'manifest') return manifest;
  const parts = manifest.parts.flatMap((sha256) => {
    const content = contentBySha256.get(sha256);
    return content === undefined ? [] : [{ sha256, sha512: null, sha3_384: content }];
  });
  const bill = await imageBillOf({ manifest: sha3_384, parts });
  return bill === undefined ? missingContent : { kind: 'image-contents', bill };
}
