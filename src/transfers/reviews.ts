// Reviews the received contents of a transfer with the same checks as pushed uploads.
import { hash, randomUUID } from 'node:crypto';

import type { FoundCredential, FoundLibrary, FoundManifest, FoundResource } from '#acts/transfer-accept.ts';
import { subjectOf } from '#acts/transfer-planning.ts';
import type { Statement } from '#acts/transfer-statement.ts';
import { readManifest } from '#api/image-manifest.ts';
import type { TransferContent, TransferPackage } from '#api/wire.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Repository } from '#records/images.ts';
import type { TransferFinding } from '#records/transfers.ts';
import type { Findings } from '#records/uploads.ts';
import { heldUntil } from './intake.ts';
import { notThere, textSubjects, textsHeld, type FoundIcon } from './text-subjects.ts';
import { wholeOf } from './whole.ts';

export interface Reviewing {
  records: Records;
  blobs: Blobs;
  digests: DigestPool;
  findingsOf: FindingsOf;
  credentialFor: CredentialFor;
  /** Aborts the review. Findings so far are kept. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
}

/** Returns the findings about the content of a revision, or why it is refused. */
export type FindingsOf = (subject: TransferPackage, sha3_384: string) => Promise<Findings | { refused: string }>;

/**
 * Returns the local pull credential of an image repository, new or existing, and a function for the content of a resource that names an
 * image.
 */
export type CredentialFor = (
  repository: Repository,
  before: FoundCredential | undefined,
) => Promise<{ credential: FoundCredential; textOf: (sha256: string) => string }>;

/** Packages handled concurrently: while one is reviewed, the contents of others are verified. */
const atOnce = 4;
/** Findings stored per commit. */
const together = 200;

/** Reviews all received contents without findings, except those already in the store. */
export async function reviewAll(statement: Statement, id: string, reviewing: Reviewing): Promise<void> {
  const { records, progress, signal } = reviewing;
  const keeper = new FindingsKeeper(statement, id, records);
  const known = await records.transfers.reviewed(id);
  let done = 0;
  const waiting = statement.packages.values();
  const work = async (): Promise<void> => {
    for (const one of waiting) {
      signal.throwIfAborted();
      const unknown = subjectsOf(one, reviewing, keeper).filter(({ subject }) => !known.has(subject));
      const isHere = unknown.length === 0 ? known : await heldAlready(one, records);
      for (const { subject, review } of unknown) {
        signal.throwIfAborted();
        if (isHere.has(subject)) continue;
        const found = await review();
        // Do not store missing content as a finding: it may still arrive, and stored findings are final.
        if (!('refused' in found && found.refused === notThere.refused)) await keeper.keep(subject, found);
      }
      progress('review', ++done, statement.packages.length);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, work));
  await keeper.flush();
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** Returns the subjects of a package that are already in the store with the same content, so that they need no review. */
async function heldAlready(one: TransferPackage, records: Records): Promise<Set<string>> {
  const { id, revisions } = one;
  const held = await records.revisions.listOf(
    id,
    revisions.map(({ revision }) => revision),
  );
  const contents = new Map(held.map(({ revision, sha3_384 }) => [revision, sha3_384]));
  const same = revisions
    .filter(({ revision, content }) => contents.get(revision) === content['sha3-384'])
    .map(({ revision }) => subjectOf(id, revision));
  return new Set([...same, ...(await textsHeld(one, records))]);
}

/** Stores findings in batches. Findings not stored when the process ends are computed again. */
export class FindingsKeeper {
  readonly #id: string;
  readonly #endsAt: string;
  readonly #records: Records;
  #waiting: { finding: TransferFinding; made: string[] }[] = [];
  /** Credentials found in this run. They are needed again, possibly before they are stored. */
  readonly #credentials = new Map<string, FoundCredential>();

  constructor(statement: Statement, id: string, records: Records) {
    this.#id = id;
    this.#endsAt = heldUntil(statement);
    this.#records = records;
  }

  /** Returns the credential found earlier for a repository. */
  async credential(subject: string): Promise<FoundCredential | undefined> {
    const before = (await this.#records.transfers.finding(this.#id, subject))?.findings ?? null;
    return this.#credentials.get(subject) ?? (before === null ? undefined : (JSON.parse(before) as FoundCredential));
  }

  async keep(subject: string, found: Found): Promise<void> {
    const finding: TransferFinding =
      'refused' in found
        ? { subject, findings: null, refused: found.refused }
        : { subject, findings: JSON.stringify(found), refused: null };
    if ('kind' in found && found.kind === 'credential') this.#credentials.set(subject, found);
    this.#waiting.push({ finding, made: madeFor(found) });
    if (this.#waiting.length >= together) await this.flush();
  }

  async flush(): Promise<void> {
    const some = this.#waiting;
    this.#waiting = [];
    if (some.length === 0) return;
    await this.#records.passing(async ({ transfers }) => {
      for (const { finding, made } of some) {
        for (const sha3_384 of made) await transfers.arrive(this.#id, sha3_384, this.#endsAt);
        await transfers.found(this.#id, finding, this.#endsAt);
      }
    });
  }
}

type Found = Findings | MadeResource | FoundManifest | FoundCredential | FoundIcon | FoundLibrary | { refused: string };

/** Contents that a review has created. They are kept with the others. */
function madeFor(found: Found): string[] {
  if ('icon' in found && typeof found.icon === 'string') return [found.icon.slice(0, 96)];
  return 'content' in found ? [found.content['sha3-384']] : [];
}

interface Subject {
  subject: string;
  review: () => Promise<Found>;
}

function subjectsOf(one: TransferPackage, reviewing: Reviewing, keeper: FindingsKeeper): Subject[] {
  const { blobs, findingsOf } = reviewing;
  const there = (sha3_384: string, review: Subject['review']) => async (): Promise<Found> =>
    (await blobs.prove(sha3_384)) ? review() : notThere;
  const own = one.revisions.map(({ revision, content: { 'sha3-384': sha3_384 } }) => ({
    subject: subjectOf(one.id, revision),
    review: there(sha3_384, () => findingsOf(one, sha3_384)),
  }));
  const beside = one.resources.flatMap((resource) => resourceSubjects(one, resource, reviewing, keeper));
  const images = one.images.flatMap((image) => {
    const here = new Set([
      ...image.manifests.map(({ content }) => content.sha256),
      ...image.blobs.map((blob) => blob.sha256),
    ]);
    return image.manifests.map(({ content: { sha256, 'sha3-384': sha3_384, size }, 'media-type': mediaType }) => ({
      subject: subjectOf(one.id, image.resource, sha256),
      review: there(sha3_384, () => manifestIn(blobs, { sha3_384, size, mediaType }, here)),
    }));
  });
  return [...own, ...beside, ...images, ...textSubjects(one, blobs)];
}

function resourceSubjects(
  { id: packageId }: TransferPackage,
  { name: resource, revisions }: TransferPackage['resources'][number],
  { blobs, digests, credentialFor }: Reviewing,
  keeper: FindingsKeeper,
): Subject[] {
  const repository = { packageId, resource };
  const credential = subjectOf(packageId, resource, 'credential');
  const credentials: Subject[] = revisions.some(({ image }) => image !== undefined)
    ? [{ subject: credential, review: async () => (await credentialFor(repository, undefined)).credential }]
    : [];
  const own = revisions.map(({ revision, content, image }) => ({
    subject: subjectOf(packageId, resource, revision),
    async review(): Promise<Found> {
      if (image !== undefined) {
        const { textOf } = await credentialFor(repository, await keeper.credential(credential));
        return madeResource(Buffer.from(textOf(image)), blobs);
      }
      if (content === undefined || !(await blobs.prove(content['sha3-384']))) return notThere;
      const found = await withFile(blobs, content['sha3-384'], (file) => digests.ofFile(file, ['sha384', 'sha512']));
      return { kind: 'resource', ...found };
    },
  }));
  return [...credentials, ...own];
}

type MadeResource = FoundResource & { content: TransferContent };

async function madeResource(bytes: Buffer, blobs: Pick<Blobs, 'put'>): Promise<MadeResource> {
  const { sha256, sha3_384, size } = await blobs.put(bytes, { id: randomUUID() });
  const content = { sha256, 'sha3-384': sha3_384, size };
  return { kind: 'resource', sha384: hash('sha384', bytes), sha512: hash('sha512', bytes), content };
}

const largestManifest = 4 * 1024 * 1024;

/** Returns the content of a manifest. Refuses if the transfer does not contain all parts of the image. */
async function manifestIn(
  blobs: Pick<Blobs, 'open'>,
  { sha3_384, size, mediaType }: { sha3_384: string; size: number; mediaType: string },
  here: ReadonlySet<string>,
): Promise<FoundManifest | { refused: string }> {
  if (size > largestManifest) return { refused: 'A manifest has 4 MiB at most.' };
  const bytes = await wholeOf(blobs, sha3_384);
  if (bytes === undefined) return notThere;
  try {
    const { parts, children, about } = readManifest(mediaType, bytes);
    const named = [...parts, ...(children ?? [])];
    const lost = named.find(
      ({ digits, mayBeElsewhere }) => !mayBeElsewhere && !(digits !== undefined && here.has(digits)),
    );
    if (lost !== undefined)
      return { refused: `It names ${lost.digest.slice(0, 140)}, which the transfer does not speak of.` };
    const digitsOf = (some: typeof named): string[] =>
      some.flatMap(({ digits }) => (digits !== undefined && here.has(digits) ? digits : []));
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
