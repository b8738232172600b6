// Reads and writes the statement of a transfer: the complete, canonical list of its content. All content of a transfer is thus covered by
// the signature.
import { createHash } from 'node:crypto';

import type { Statement } from '#acts/transfer-statement.ts';
import { mostItems, problems, type Shape } from '#api/schema.ts';
import type { TransferContent, TransferLibrary, TransferPackage, TransferStatement } from '#api/wire.ts';
import { packageTypes } from '#domain/namespace.ts';
import type { Aside } from '#domain/sequence.ts';
import { canonical, canonicalBytes } from './canonical.ts';
import {
  itemsOf,
  listIn,
  membersOfObject,
  NotCanonical,
  read,
  textIn,
  type BytesOf,
  type Extent,
  type Extents,
} from './listed.ts';
import { NotATransfer } from './not-a-transfer.ts';

/**
 * Maximum size of a statement in bytes. 10,000 snaps with their assertions need twelve million. To make, receive, inspect or accept a
 * transfer takes about four bytes of memory per byte of its statement, at most 256 MB (`npm run bench -- signed-transfers`).
 */
export const largestStatement = 24 * 1024 * 1024;

/** Returns the id of a transfer: the SHA-256 of its statement, in hexadecimal. */
export const idOf = (statement: Uint8Array): string => createHash('sha256').update(statement).digest('hex');

export const writeStatement = (statement: Statement): Buffer => canonicalBytes({ ...statement });

/**
 * Reads a statement. Throws `NotATransfer` if it is malformed or contradicts itself.
 *
 * @param aside spill file for its text; the caller may then release the bytes
 */
export function readStatement(bytes: Buffer, aside?: Aside): Statement {
  try {
    const statement = readCanonical(bytes, aside);
    refuseContradictions(statement);
    return statement;
  } catch (cause) {
    if (!(cause instanceof NotCanonical)) throw cause;
    throw new NotATransfer('Its statement is not in the one form that statements have.', { cause });
  }
}

/** The long lists, with the shape of each item. `parts` is a list of lists of pieces. */
const listed = { packages: 'TransferPackage', blobs: 'TransferBlob', parts: 'TransferPiece' } as const;

function readCanonical(bytes: Buffer, aside: Aside | undefined): Statement {
  const members = membersOfObject(bytes);
  const format = members.get('format');
  const number = format && read(bytes, format);
  if (typeof number === 'number' && number > 1) {
    throw new NotATransfer(`It has the format ${String(number)}, which a newer release of larder reads.`);
  }
  const said: Record<string, unknown> = {};
  for (const [name, extent] of members) if (!Object.hasOwn(listed, name)) said[name] = inOneForm(bytes, extent);
  const lists = {
    packages: listOf('packages', bytes, members.get('packages')),
    blobs: listOf('blobs', bytes, members.get('blobs')),
    parts: listOf('parts', bytes, members.get('parts')),
  };
  refuseProblem('TransferStatement', { ...said, packages: [], blobs: [], parts: [[]] });
  const parts = Array.from({ length: lists.parts.length }, (_, at) => itemsOf(bytes, lists.parts.at(at)));
  if (parts.length === 0) throw new NotATransfer('Its statement is none: it has no part.');
  refuseItems(listed.packages, bytes, lists.packages);
  refuseItems(listed.blobs, bytes, lists.blobs);
  for (const pieces of parts) refuseItems(listed.parts, bytes, pieces);
  const bytesOf = aside === undefined ? inMemory(bytes) : lyingIn(aside, bytes);
  return {
    ...(said as unknown as Omit<TransferStatement, keyof typeof listed>),
    packages: listIn(bytesOf, lists.packages),
    blobs: listIn(bytesOf, lists.blobs),
    parts: parts.map((pieces) => listIn(bytesOf, pieces)),
  };
}

const inMemory =
  (bytes: Buffer): BytesOf =>
  ({ begin, end }) =>
    bytes.subarray(begin, end);

function lyingIn(aside: Aside, bytes: Buffer): BytesOf {
  const { begin: first } = aside.add(bytes);
  return ({ begin, end }) => aside.read(first + begin, end - begin);
}

/** Requires the canonical form: a value with two encodings could be signed in one and shown in the other. */
function inOneForm(bytes: Buffer, extent: Extent): unknown {
  const value = read(bytes, extent);
  if (canonical(value) !== textIn(bytes, extent)) throw new NotCanonical('it can be written in another way');
  return value;
}

function listOf(name: keyof typeof listed, bytes: Buffer, extent: Extent | undefined): Extents {
  const items = itemsOf(bytes, extent ?? { begin: 0, end: 0 });
  if (items.length > mostItems('TransferStatement', name))
    throw new NotATransfer(`Its statement has too many ${name}.`);
  return items;
}

function refuseItems(shape: Shape, bytes: Buffer, items: Extents): void {
  for (let at = 0; at < items.length; at++) refuseProblem(shape, inOneForm(bytes, items.at(at)));
}

function refuseProblem(shape: Shape, value: unknown): void {
  const [problem] = problems(shape, value);
  if (problem !== undefined) throw new NotATransfer(`Its statement is none: ${problem.message}.`);
}

function refuseContradictions(statement: Statement): void {
  const { created, expires, packages, accounts } = statement;
  if (!(Date.parse(created) < Date.parse(expires))) throw new NotATransfer('It expires before it was created.');
  refuseParts(statement);
  refuseDoubles(accounts.values().map(({ id }) => id));
  const [id, name, content] = [neverTwice(), neverTwice(), inAgreement()];
  for (const one of statement.blobs) content(one);
  for (const one of statement.assertions) content(one);
  // Parsing each package from the text takes longer than checking it, so do all checks in one pass.
  for (const one of packages) {
    id(one.id);
    name(`${one.namespace}/${one.name}`);
    refusePackage(one);
    for (const some of contentsIn(one)) content(some);
  }
}

/** Checks that the pieces of each blob are contiguous and complete. */
function refuseParts({ blobs, parts }: Pick<Statement, 'blobs' | 'parts'>): void {
  const ends = new Float64Array(blobs.length);
  for (const { blob, offset, size, sha256 } of parts.values().flatMap((pieces) => pieces.values())) {
    const of = blobs.at(blob);
    if (of === undefined || ends[blob] !== offset) throw new NotATransfer('Its parts do not fit together.');
    ends[blob] = offset + size;
    if (size === of.size && sha256 !== of.sha256) throw new NotATransfer('Its parts do not fit together.');
  }
  const names = new Set<string>();
  for (const [at, { size, sha256 }] of blobs.values().map((one, index) => [index, one] as const)) {
    if (ends[at] !== size) throw new NotATransfer('Its parts do not hold all that it names.');
    names.add(sha256);
  }
  if (names.size < blobs.length) throw new NotATransfer('It names the same content twice.');
}

function refusePackage({ namespace, type, revisions, resources, images, libraries = [] }: TransferPackage): void {
  if (!packageTypes(namespace).some((one) => one === type))
    throw new NotATransfer(`No ${namespace} is of the type '${type}'.`);
  refuseDoubleLibraries(libraries);
  refuseDoubles(revisions.map(({ revision }) => revision));
  refuseDoubles(resources.map(({ name }) => name));
  refuseDoubles(images.map(({ resource }) => resource));
  for (const { name, revisions: beside } of resources) {
    refuseDoubles(beside.map(({ revision }) => revision));
    const image = images.find(({ resource }) => resource === name);
    const isClear = ({ content, image: named }: (typeof beside)[number]): boolean =>
      named === undefined
        ? content !== undefined
        : content === undefined && image?.manifests.some((one) => one.content.sha256 === named) === true;
    if (beside.some(({ bases, architectures }) => (bases === null) === (architectures === null)))
      throw new NotATransfer(`It does not say whether the resource ${name} is for bases or for architectures.`);
    if (!beside.every(isClear)) throw new NotATransfer(`It does not say what the resource ${name} is.`);
  }
}

function refuseDoubleLibraries(libraries: readonly TransferLibrary[]): void {
  refuseDoubles(libraries.map(({ id }) => id));
  refuseDoubles(libraries.map(({ name }) => name));
  for (const { versions } of libraries)
    refuseDoubles(versions.map(({ api, patch }) => `${String(api)}.${String(patch)}`));
}

function refuseDoubles(names: Iterable<string | number>): void {
  const refuse = neverTwice();
  for (const name of names) refuse(name);
}

function neverTwice(): (name: string | number) => void {
  const seen = new Set<string | number>();
  return (name) => {
    if (seen.has(name)) throw new NotATransfer('It says something twice.');
    seen.add(name);
  };
}

/** Each content has two digests and a size. Checks that they always agree. */
function inAgreement(): (content: TransferContent) => void {
  const known = new Map<string, string>();
  return ({ sha256, 'sha3-384': sha3_384, size }) => {
    const said = `${sha3_384} ${String(size)}`;
    const before = known.get(sha256);
    if (before === undefined) known.set(sha256, said);
    else if (before !== said) throw new NotATransfer('It gives two digests to the same content.');
  };
}

/** Yields all contents that the receiver must have in the end. */
export function* contentsOf({
  packages,
  assertions,
}: Pick<Statement, 'packages' | 'assertions'>): Generator<TransferContent> {
  yield* assertions;
  for (const one of packages) yield* contentsIn(one);
}

function* contentsIn({
  revisions,
  resources,
  images,
  libraries = [],
  icon = null,
}: TransferPackage): Generator<TransferContent> {
  for (const { content } of revisions) yield content;
  for (const { content } of resources.flatMap((resource) => resource.revisions))
    if (content !== undefined) yield content;
  for (const { manifests, blobs } of images) {
    yield* manifests.map(({ content }) => content);
    yield* blobs;
  }
  for (const { content } of libraries.flatMap((library) => library.versions)) yield content;
  if (icon !== null) yield icon.content;
}
