// The statement of a transfer: everything that is carried, in one text with one form, so that there is nothing in a transfer
// for which nobody has signed.
import { createHash } from 'node:crypto';

import { problems } from '#api/schema.ts';
import type { TransferContent, TransferLibrary, TransferStatement } from '#api/wire.ts';
import { packageTypes } from '#domain/namespace.ts';
import { canonical } from './canonical.ts';
import { NotATransfer } from './not-a-transfer.ts';

/** How many bytes a statement has at most: that of 10,000 packages has about ten million. */
export const largestStatement = 128 * 1024 * 1024;

/** By which a transfer is known: the SHA-256 of its statement, in hexadecimal. */
export const idOf = (statement: Uint8Array): string => createHash('sha256').update(statement).digest('hex');

export const writeStatement = (statement: TransferStatement): Buffer => Buffer.from(canonical(statement));

/** Reads a statement; throws `NotATransfer` where it is none, or says something that contradicts itself. */
export function readStatement(bytes: Uint8Array): TransferStatement {
  const text = Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NotATransfer('Its statement is no JSON.', { cause });
  }
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format > 1) {
    throw new NotATransfer(`It has the format ${String(format)}, which a newer release of larder reads.`);
  }
  const [problem] = problems('TransferStatement', value);
  if (problem !== undefined) throw new NotATransfer(`Its statement is none: ${problem.message}.`);
  const statement = value as TransferStatement;
  // What can be written in two ways can be signed in one and shown in another.
  if (canonical(statement) !== text)
    throw new NotATransfer('Its statement is not in the one form that statements have.');
  refuseContradictions(statement);
  return statement;
}

function refuseContradictions(statement: TransferStatement): void {
  const { blobs, parts, created, expires, packages, accounts } = statement;
  if (!(Date.parse(created) < Date.parse(expires))) throw new NotATransfer('It expires before it was created.');
  if (new Set(blobs.map((blob) => blob.sha256)).size < blobs.length) {
    throw new NotATransfer('It names the same content twice.');
  }
  const ends = blobs.map(() => 0);
  for (const { blob, offset, size, sha256 } of parts.flat()) {
    const of = blobs[blob];
    if (of === undefined || ends[blob] !== offset) throw new NotATransfer('Its parts do not fit together.');
    ends[blob] = offset + size;
    if (size === of.size && sha256 !== of.sha256) throw new NotATransfer('Its parts do not fit together.');
  }
  if (blobs.some(({ size }, at) => ends[at] !== size))
    throw new NotATransfer('Its parts do not hold all that it names.');
  refuseDoubles(packages.map(({ id }) => id));
  refuseDoubles(packages.map(({ namespace, name }) => `${namespace}/${name}`));
  refuseDoubles(accounts.map(({ id }) => id));
  for (const { namespace, type, revisions, resources, images, libraries = [] } of packages) {
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
  refuseDisagreement(statement);
}

function refuseDoubleLibraries(libraries: readonly TransferLibrary[]): void {
  refuseDoubles(libraries.map(({ id }) => id));
  refuseDoubles(libraries.map(({ name }) => name));
  for (const { versions } of libraries)
    refuseDoubles(versions.map(({ api, patch }) => `${String(api)}.${String(patch)}`));
}

function refuseDoubles(names: readonly (string | number)[]): void {
  if (new Set(names).size < names.length) throw new NotATransfer('It says something twice.');
}

/** Each content is named by two digests, which must be those of its blob. */
function refuseDisagreement(statement: Pick<TransferStatement, 'blobs' | 'packages' | 'assertions'>): void {
  const known = new Map<string, TransferContent>(statement.blobs.map((blob) => [blob.sha256, blob]));
  for (const content of contentsOf(statement)) {
    const same = known.get(content.sha256);
    if (same === undefined) known.set(content.sha256, content);
    else if (same['sha3-384'] !== content['sha3-384'] || same.size !== content.size) {
      throw new NotATransfer('It gives two digests to the same content.');
    }
  }
}

/** Everything of which the receiver must have the bytes in the end. */
export function* contentsOf({
  packages,
  assertions,
}: Pick<TransferStatement, 'packages' | 'assertions'>): Generator<TransferContent> {
  yield* assertions;
  for (const { revisions, resources, images, libraries = [], icon = null } of packages) {
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
}
