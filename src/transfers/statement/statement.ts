// Reads and writes the statement of a transfer: the complete, canonical list of its content. All content of a transfer is thus covered by
// the signature.
import { createDigest } from '#domain/cryptography.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { maxItemsOf, findProblems, type ShapeName } from '#contract/schema.ts';
import type {
  TransferBlob,
  TransferContent,
  TransferLibrary,
  TransferPackage,
  TransferPiece,
  TransferStatement,
} from '#contract/wire.ts';
import { packageTypes } from '#domain/packages/namespace.ts';
import type { SpillStorage } from '#domain/sequence.ts';
import { toCanonicalText, toCanonicalBytes } from '#domain/canonical-json.ts';
import {
  itemsOf,
  listIn,
  membersOfObject,
  NotCanonical,
  parseExtent,
  parseJson,
  textIn,
  type BytesOf,
  type JsonExtent,
  type Extents,
} from './json-extents.ts';
import { NotATransfer } from './not-a-transfer.ts';
import { maxFormat } from './site-keys.ts';

/**
 * Maximum size of a statement in bytes. 10,000 snaps with their assertions need twelve million. To make, receive, inspect or accept a
 * transfer takes about four bytes of memory per byte of its statement, at most 256 MB (`npm run bench -- signed-transfers`).
 */
export const maxStatementBytes = 24 * 1024 * 1024;

/** Returns the id of a transfer: the SHA-256 of its statement, in hexadecimal. */
export const idOf = (statement: Uint8Array): string => createDigest('statement').update(statement).digest('hex');

export const writeStatement = (statement: LazyTransferStatement): Buffer => toCanonicalBytes({ ...statement });

/**
 * Reads a statement. Throws `NotATransfer` if it is malformed or contradicts itself.
 *
 * @param aside spill file for its text; the caller may then release the bytes
 */
export function readStatement(bytes: Buffer, aside?: SpillStorage): LazyTransferStatement {
  try {
    const { statement, items } = readCanonical(bytes, aside);
    refuseContradictions(statement, items);
    return statement;
  } catch (cause) {
    if (!(cause instanceof NotCanonical)) throw cause;
    throw new NotATransfer('Its statement is not in canonical form.', { cause });
  }
}

/** The long lists, with the shape of each item. `parts` is a list of lists of pieces. */
const listed = { packages: 'TransferPackage', blobs: 'TransferBlob', parts: 'TransferPiece' } as const;

/** The items of the long lists. Each is checked when it is read, so that one pass over the text is enough. */
interface CheckedItems {
  packages: Iterable<TransferPackage>;
  blobs: Iterable<TransferBlob>;
  pieces: Iterable<TransferPiece>;
}

function readCanonical(
  bytes: Buffer,
  aside: SpillStorage | undefined,
): { statement: LazyTransferStatement; items: CheckedItems } {
  const members = membersOfObject(bytes);
  const format = members.get('format');
  const number = format && parseExtent(bytes, format);
  if (typeof number === 'number' && number > maxFormat) {
    throw new NotATransfer(`It has the format ${String(number)}, which a newer release of larder reads.`);
  }
  const fields: Record<string, unknown> = {};
  for (const [name, extent] of members)
    if (!Object.hasOwn(listed, name)) fields[name] = readCanonicalValue(bytes, extent);
  const lists = {
    packages: listOf('packages', bytes, members.get('packages')),
    blobs: listOf('blobs', bytes, members.get('blobs')),
    parts: listOf('parts', bytes, members.get('parts')),
  };
  refuseProblem('TransferStatement', { ...fields, packages: [], blobs: [], parts: [[]] });
  const parts = Array.from({ length: lists.parts.length }, (_, at) => itemsOf(bytes, lists.parts.at(at)));
  if (parts.length === 0) throw new NotATransfer('Its statement is invalid: it has no part.');
  const bytesOf = aside === undefined ? inMemory(bytes) : inSpillFile(aside, bytes);
  return {
    statement: {
      ...(fields as unknown as Omit<TransferStatement, keyof typeof listed>),
      packages: listIn(bytesOf, lists.packages),
      blobs: listIn(bytesOf, lists.blobs),
      parts: parts.map((pieces) => listIn(bytesOf, pieces)),
    },
    items: {
      packages: checkedItems(listed.packages, bytes, lists.packages),
      blobs: checkedItems(listed.blobs, bytes, lists.blobs),
      pieces: parts.values().flatMap((pieces) => checkedItems<TransferPiece>(listed.parts, bytes, pieces)),
    },
  };
}

const inMemory =
  (bytes: Buffer): BytesOf =>
  ({ begin, end }) =>
    bytes.subarray(begin, end);

function inSpillFile(aside: SpillStorage, bytes: Buffer): BytesOf {
  const { begin: first } = aside.add(bytes);
  return ({ begin, end }) => aside.read(first + begin, end - begin);
}

/** Requires the canonical form: a value with two encodings could be signed in one and shown in the other. */
function readCanonicalValue(bytes: Buffer, extent: JsonExtent): unknown {
  const text = textIn(bytes, extent);
  const value = parseJson(text);
  if (toCanonicalText(value) !== text) throw new NotCanonical('it is not in canonical form');
  return value;
}

function listOf(name: keyof typeof listed, bytes: Buffer, extent: JsonExtent | undefined): Extents {
  const items = itemsOf(bytes, extent ?? { begin: 0, end: 0 });
  if (items.length > maxItemsOf('TransferStatement', name))
    throw new NotATransfer(`Its statement has too many ${name}.`);
  return items;
}

/** Yields the items of a list. Throws at the first without the canonical form or the shape. */
function* checkedItems<Item>(shape: ShapeName, bytes: Buffer, items: Extents): Generator<Item, undefined> {
  for (let at = 0; at < items.length; at++) {
    const item = readCanonicalValue(bytes, items.at(at));
    refuseProblem(shape, item);
    yield item as Item;
  }
  return undefined;
}

function refuseProblem(shape: ShapeName, value: unknown): void {
  const [problem] = findProblems(shape, value);
  if (problem !== undefined) throw new NotATransfer(`Its statement is invalid: ${problem.message}.`);
}

function refuseContradictions(statement: LazyTransferStatement, items: CheckedItems): void {
  const { created, expires, accounts, feeds = [], fleets = [], 'larder-releases': releases = [] } = statement;
  if (!(Date.parse(created) < Date.parse(expires))) throw new NotATransfer('It expires before it was created.');
  const [id, name, content] = [createUniquenessCheck(), createUniquenessCheck(), createAgreementCheck()];
  for (const blob of items.blobs) content(blob);
  refuseParts(statement, items.pieces);
  refuseDoubles(accounts.values().map(({ id: accountId }) => accountId));
  for (const assertion of statement.assertions) content(assertion);
  refuseDoubles(feeds.map(({ name: feedName }) => feedName));
  for (const feed of feeds) content(feed.content);
  refuseDoubles(fleets.map(({ name: fleetName }) => fleetName));
  refuseDoubles(releases.map(({ version }) => version));
  for (const { files } of releases) {
    refuseDoubles(files.map(({ name: fileName }) => fileName));
    for (const file of files) content(file.content);
  }
  // Parsing each package from the text takes longer than checking it, so do all checks in one pass.
  for (const entry of items.packages) {
    id(entry.id);
    name(`${entry.namespace}/${entry.name}`);
    refusePackage(entry);
    for (const some of contentsIn(entry)) content(some);
  }
}

/** Checks that the pieces of each blob are contiguous and complete. */
function refuseParts({ blobs }: Pick<LazyTransferStatement, 'blobs'>, pieces: Iterable<TransferPiece>): void {
  const ends = new Float64Array(blobs.length);
  for (const { blob, offset, size, sha256 } of pieces) {
    const of = blobs.at(blob);
    if (of === undefined || ends[blob] !== offset) throw new NotATransfer('Its parts do not fit together.');
    ends[blob] = offset + size;
    if (size === of.size && sha256 !== of.sha256) throw new NotATransfer('Its parts do not fit together.');
  }
  const names = new Set<string>();
  for (const [at, { size, sha256 }] of blobs.values().map((blob, index) => [index, blob] as const)) {
    if (ends[at] !== size) throw new NotATransfer('Its parts do not contain everything that it names.');
    names.add(sha256);
  }
  if (names.size < blobs.length) throw new NotATransfer('It names the same content twice.');
}

function refusePackage({ namespace, type, revisions, resources, images, libraries = [] }: TransferPackage): void {
  if (!packageTypes(namespace).some((packageType) => packageType === type))
    throw new NotATransfer(`No ${namespace} is of the type '${type}'.`);
  refuseDoubleLibraries(libraries);
  refuseDoubles(revisions.map(({ revision }) => revision));
  refuseDoubles(resources.map(({ name }) => name));
  refuseDoubles(images.map(({ resource }) => resource));
  for (const { name, revisions: resourceRevisions } of resources) {
    refuseDoubles(resourceRevisions.map(({ revision }) => revision));
    const image = images.find(({ resource }) => resource === name);
    const isClear = ({ content, image: imageDigest }: (typeof resourceRevisions)[number]): boolean =>
      imageDigest === undefined
        ? content !== undefined
        : content === undefined &&
          image?.manifests.some((manifest) => manifest.content.sha256 === imageDigest) === true;
    if (resourceRevisions.some(({ bases, architectures }) => (bases === null) === (architectures === null)))
      throw new NotATransfer(`It does not say whether the resource ${name} is for bases or for architectures.`);
    if (!resourceRevisions.every(isClear)) throw new NotATransfer(`It does not say what the resource ${name} is.`);
  }
}

function refuseDoubleLibraries(libraries: readonly TransferLibrary[]): void {
  refuseDoubles(libraries.map(({ id }) => id));
  refuseDoubles(libraries.map(({ name }) => name));
  for (const { versions } of libraries)
    refuseDoubles(versions.map(({ api, patch }) => `${String(api)}.${String(patch)}`));
}

function refuseDoubles(names: Iterable<string | number>): void {
  const refuse = createUniquenessCheck();
  for (const name of names) refuse(name);
}

function createUniquenessCheck(): (name: string | number) => void {
  const seen = new Set<string | number>();
  return (name) => {
    if (seen.has(name)) throw new NotATransfer('It contains a duplicate.');
    seen.add(name);
  };
}

/** Each content has two digests and a size. Checks that they always agree. */
function createAgreementCheck(): (content: TransferContent) => void {
  const identities = new Map<string, string>();
  return ({ sha256, 'sha3-384': sha3_384, size }) => {
    const identity = `${sha3_384} ${String(size)}`;
    const before = identities.get(sha256);
    if (before === undefined) identities.set(sha256, identity);
    else if (before !== identity) throw new NotATransfer('It gives two digests to the same content.');
  };
}

/** Yields all contents that the receiver must have in the end. */
export function* contentsOf({
  packages,
  assertions,
  feeds = [],
  'larder-releases': releases = [],
}: Pick<LazyTransferStatement, 'packages' | 'assertions' | 'feeds' | 'larder-releases'>): Generator<TransferContent> {
  yield* assertions;
  yield* feeds.map(({ content }) => content);
  yield* releases.flatMap(({ files }) => files.map(({ content }) => content));
  for (const entry of packages) yield* contentsIn(entry);
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
