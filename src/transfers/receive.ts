// Receiving a transfer: its parts are read in any order, on as many visits as it takes; what is not here yet is kept, and
// reviewed, and nothing of it shows before it is let in.
import { hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Acts, By } from '#acts/act.ts';
import { receiveTransfer, refuseUnfit } from '#acts/transfers.ts';
import type { FoundCredential, FoundManifest, FoundResource } from '#acts/transfer-accept.ts';
import { subjectOf } from '#acts/transfer-planning.ts';
import { readManifest } from '#api/image-manifest.ts';
import type { TransferBlob, TransferContent, TransferPackage, TransferStatement } from '#api/wire.ts';
import { oneByOne, withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { after, days, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import { makeFolder } from '#files/durable.ts';
import { syncFolder, writeWhole } from '#files/streamed.ts';
import { namesIn } from '#files/read.ts';
import type { Records } from '#records/index.ts';
import type { Repository } from '#records/images.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { Findings } from '#records/uploads.ts';
import { NotATransfer } from './form/not-a-transfer.ts';
import type { OpenPart, OpenPiece } from './form/read.ts';
import { signersOf } from './form/signatures.ts';
import { oneTransfer } from './part-files.ts';
import { wholeOf } from './whole.ts';

export interface Receiving {
  records: Records;
  acts: Acts;
  by: By;
  blobs: Blobs;
  digests: DigestPool;
  newId: Pick<NewIds, 'uuid'>;
  /** What this site is called, where it has a name. */
  site: string | undefined;
  /** The data directory. */
  directory: string;
  now: Now;
  /** How many bytes a content may have. */
  largest: number;
  findingsOf: FindingsOf;
  credentialFor: CredentialFor;
  progress: (step: string, done: number, total: number) => void;
}

/** What a review of a revision's content finds, or why it cannot be taken in. */
export type FindingsOf = (subject: TransferPackage, sha3_384: string) => Promise<Findings | { refused: string }>;

/** What a repository of images is pulled with here, new or as it is, and what the content of a resource says that names an image. */
export type CredentialFor = (
  repository: Repository,
  before: FoundCredential | undefined,
) => Promise<{ credential: FoundCredential; textOf: (sha256: string) => string }>;

export interface Received {
  id: string;
  statement: TransferStatement;
  /** Public keys of the source that have signed it. */
  signers: string[];
  /** The numbers of the parts that hold something which has not come. */
  lacking: number[];
  /** What somebody took out of the folder in which it lay unpacked, by its path there. */
  takenOut: string[];
}

/** Takes in some parts of one transfer; refuses what its source, or who he is to this site, does not let in. */
export async function receive(parts: readonly OpenPart[], receiving: Receiving): Promise<Received> {
  const first = oneTransfer(parts);
  const { statement, id } = first;
  const source = await sourceOf(first, receiving);
  const signers = signedEnough(first, source);
  refuseUnfit(statement, { site: receiving.site, at: timestamp(receiving.now()), floor: source.floor });
  await refuseWithoutRoom(parts, receiving);
  const kept = await receiving.blobs.put(first.bytes, { id: randomUUID() });
  await receiving.acts.do(receiveTransfer, receiving.by, {
    ...{ id, source: source.name, sequence: statement.sequence, statement: kept.sha3_384 },
    ...{ signatures: Buffer.from(first.signatures).toString('utf8'), signers },
  });
  const intake = new Intake(statement, id, receiving);
  for (const part of parts) await intake.take(part);
  const lacking = await intake.lacking();
  const takenOut = parts.flatMap((part) => part.takenOut ?? []);
  if (lacking.length === 0 || takenOut.length > 0) await reviewAll(statement, id, receiving);
  return { id, statement, signers, lacking, takenOut: [...new Set(takenOut)] };
}

async function sourceOf({ statement }: OpenPart, { records }: Receiving): Promise<TransferSource> {
  const source = await records.transferSources.find(statement.source);
  if (source !== undefined) return source;
  throw new Refusal(
    'conflict',
    `It comes from '${statement.source}', whom this site does not believe; 'larder site trust' adds a source by its keys.`,
  );
}

function signedEnough({ bytes, given }: OpenPart, { name, keys, threshold }: TransferSource): string[] {
  const signers = signersOf(bytes, given, keys);
  if (signers.length >= threshold) return signers;
  throw new Refusal(
    'conflict',
    `It was signed by ${String(signers.length)} of the keys of '${name}', and this site asks for ${String(threshold)}.`,
  );
}

async function refuseWithoutRoom(parts: readonly OpenPart[], { blobs }: Receiving): Promise<void> {
  const wanted = parts.reduce((sum, { size }) => sum + size, 0);
  const free = await blobs.free();
  if (wanted <= free) return;
  throw new Refusal(
    'insufficient-storage',
    `What came takes up to ${String(Math.ceil(wanted / 2 ** 20))} MiB, and ${String(Math.floor(free / 2 ** 20))} MiB are free; make room first.`,
  );
}

/** What of a waiting transfer has come is held for so long after it expires. */
const heldAfterwards = days(30);

/** Keeps what comes of one transfer. */
class Intake {
  readonly #statement: TransferStatement;
  readonly #id: string;
  readonly #receiving: Receiving;
  readonly #endsAt: string;

  constructor(statement: TransferStatement, id: string, receiving: Receiving) {
    this.#statement = statement;
    this.#id = id;
    this.#receiving = receiving;
    this.#endsAt = timestamp(after(new Date(statement.expires), heldAfterwards));
  }

  async take(part: OpenPart): Promise<void> {
    const { records, progress } = this.#receiving;
    const arrived = await records.transfers.arrived(this.#id);
    let done = 0;
    for await (const one of part.pieces()) {
      const { of, piece } = one;
      if (!arrived.has(of['sha3-384']) && !(await this.#isHere(of))) {
        if (piece.size === of.size) await this.#receive(of, one.bytes());
        else await this.#keepPiece(one);
      }
      progress(`part ${String(part.part)} of ${String(this.#statement.parts.length)}`, (done += piece.size), part.size);
    }
  }

  /** The parts of which something has not come. */
  async lacking(): Promise<number[]> {
    const arrived = await this.#receiving.records.transfers.arrived(this.#id);
    const { parts, blobs } = this.#statement;
    const pieces = new Set(namesIn(this.#folder()));
    return parts.flatMap((some, at) => {
      const lacks = some.some(({ blob, sha256 }) => !arrived.has(blobs[blob]!['sha3-384']) && !pieces.has(sha256));
      return lacks ? [at + 1] : [];
    });
  }

  /** Whether a content is here already, whole; it is held from now on. */
  async #isHere({ 'sha3-384': sha3_384 }: TransferBlob): Promise<boolean> {
    const { records, blobs } = this.#receiving;
    if (!(await records.neededContents.has(sha3_384)) || !(await blobs.prove(sha3_384))) return false;
    await this.#arrive(sha3_384);
    return true;
  }

  async #receive(blob: TransferBlob, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const { blobs, largest } = this.#receiving;
    const { 'sha3-384': sha3_384, size, sha256 } = blob;
    await blobs.receive(oneByOne(bytes), {
      id: randomUUID(),
      limit: largest,
      expected: size,
      accept(taken) {
        if (taken.sha3_384 === sha3_384 && taken.sha256 === sha256) return;
        throw new NotATransfer(`The content ${sha256} in it has not the digests that its statement gives.`);
      },
    });
    await this.#arrive(sha3_384);
  }

  #arrive(sha3_384: string): Promise<unknown> {
    return this.#receiving.records.passing(({ transfers }) => transfers.arrive(this.#id, sha3_384, this.#endsAt));
  }

  #folder(): string {
    return join(this.#receiving.directory, 'transfers', this.#id);
  }

  /** Keeps a piece of a blob; with the last of them the blob is put together. */
  async #keepPiece({ piece, of, bytes }: OpenPiece): Promise<void> {
    const folder = this.#folder();
    makeFolder(folder);
    if (!namesIn(folder).includes(piece.sha256)) {
      const fresh = join(folder, `.${piece.sha256}.${randomUUID()}`);
      await writeWhole(fresh, bytes(), 0o600);
      await rename(fresh, join(folder, piece.sha256));
      await syncFolder(folder);
    }
    const there = new Set(namesIn(folder));
    const pieces = this.#statement.parts
      .flat()
      .filter(({ blob }) => this.#statement.blobs[blob] === of)
      .toSorted((a, b) => a.offset - b.offset);
    if (!pieces.every(({ sha256 }) => there.has(sha256))) return;
    await this.#receive(of, joined(pieces.map(({ sha256 }) => join(folder, sha256))));
    for (const { sha256 } of pieces) await rm(join(folder, sha256), { force: true });
  }
}

async function* joined(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const file of files) yield* createReadStream(file, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>;
}

/** Reviews what has come and was not reviewed yet, as the store reviews what is pushed. */
async function reviewAll(statement: TransferStatement, id: string, receiving: Receiving): Promise<void> {
  const { records, progress } = receiving;
  const known = new Map((await records.transfers.findings(id)).map((one) => [one.subject, one.findings]));
  const endsAt = timestamp(after(new Date(statement.expires), heldAfterwards));
  const wanted = statement.packages
    .flatMap((one) => subjectsOf(one, receiving, known))
    .filter(({ subject }) => !known.has(subject));
  for (const [at, { subject, review }] of wanted.entries()) {
    const found = await review();
    progress('review', at + 1, wanted.length);
    // It may come yet, and what was found once is not looked at again.
    if ('refused' in found && found.refused === notThere.refused) continue;
    const finding =
      'refused' in found
        ? { subject, findings: null, refused: found.refused }
        : { subject, findings: JSON.stringify(found), refused: null };
    await records.passing(async ({ transfers }) => {
      for (const sha3_384 of madeFor(found)) await transfers.arrive(id, sha3_384, endsAt);
      await transfers.found(id, finding, endsAt);
    });
    known.set(subject, finding.findings);
  }
}

type Found = Findings | MadeResource | FoundManifest | FoundCredential | { refused: string };

/** Contents that a review has made, which are held with the rest. */
function madeFor(found: Found): string[] {
  if ('icon' in found && typeof found.icon === 'string') return [found.icon.slice(0, 96)];
  return 'content' in found ? [found.content['sha3-384']] : [];
}

interface Subject {
  subject: string;
  review: () => Promise<Found>;
}

const notThere = { refused: 'Its content is neither in the transfer nor here.' };

function subjectsOf(one: TransferPackage, receiving: Receiving, known: ReadonlyMap<string, string | null>): Subject[] {
  const { blobs, findingsOf } = receiving;
  const there = (sha3_384: string, review: Subject['review']) => async (): Promise<Found> =>
    (await blobs.prove(sha3_384)) ? review() : notThere;
  const own = one.revisions.map(({ revision, content: { 'sha3-384': sha3_384 } }) => ({
    subject: subjectOf(one.id, revision),
    review: there(sha3_384, () => findingsOf(one, sha3_384)),
  }));
  const beside = one.resources.flatMap((resource) => resourceSubjects(one, resource, receiving, known));
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
  return [...own, ...beside, ...images];
}

function resourceSubjects(
  { id: packageId }: TransferPackage,
  { name: resource, revisions }: TransferPackage['resources'][number],
  { blobs, digests, credentialFor }: Receiving,
  known: ReadonlyMap<string, string | null>,
): Subject[] {
  const repository = { packageId, resource };
  const credential = subjectOf(packageId, resource, 'credential');
  const kept = (): FoundCredential | undefined => {
    const found = known.get(credential) ?? null;
    return found === null ? undefined : (JSON.parse(found) as FoundCredential);
  };
  const credentials: Subject[] = revisions.some(({ image }) => image !== undefined)
    ? [{ subject: credential, review: async () => (await credentialFor(repository, undefined)).credential }]
    : [];
  const own = revisions.map(({ revision, content, image }) => ({
    subject: subjectOf(packageId, resource, revision),
    async review(): Promise<Found> {
      if (image !== undefined) {
        const { textOf } = await credentialFor(repository, kept());
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

/** What a manifest is made of; refused where the transfer does not hold that. */
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
