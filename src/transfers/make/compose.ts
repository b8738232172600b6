// Composes a transfer from packages of any origin: selects the contents, cuts them into parts, signs the statement and writes the files.
import { createDigest } from '#domain/cryptography.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { TransferBase, TransferBlob, TransferContent, TransferPiece } from '#contract/wire.ts';
import { formatBytes as inBytes } from '#domain/byte-size.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { PackedList, type SpillStorage, type Sequence } from '#domain/sequence.ts';
import { formatCount } from '#domain/quantities.ts';
import { cutIntoParts } from '../parts/cut-into-parts.ts';
import type { Transfer } from '../parts/members.ts';
import { anyBytes } from './media-types.ts';
import { addSignature } from '../statement/signatures.ts';
import { formatFor } from '../statement/site-keys.ts';
import { contentsOf, idOf, maxStatementBytes, readStatement, writeStatement } from '../statement/statement.ts';
import type { TransferContentReader } from '../parts/part-bytes.ts';
import { partFile, writeParts, type WrittenParts, type PartWriteOptions } from '../parts/part-files.ts';
import type { Site } from '../site.ts';

/** The options of the person who makes a transfer. */
export interface TransferIntent {
  /** Target sites; empty for any site. */
  sites: readonly string[];
  /** The transfer leaves out contents that were already sent to this site or that its request lists. */
  base: TransferBase;
  /** Returns those of the contents that the target already has. */
  findPresent: (contents: readonly string[]) => Promise<ReadonlySet<string>>;
  expiresDays: number;
  partSize: number | undefined;
  reason: string | undefined;
}

/** The packages of a statement, and all contents in the order of the transfer. */
export interface TransferContents extends Pick<
  LazyTransferStatement,
  'accounts' | 'packages' | 'assertions' | 'feeds' | 'fleets' | 'larder-releases'
> {
  contents: ReadonlyMap<string, { content: TransferContent; mediaType: string }>;
  leftOut: LazyTransferStatement['left-out'];
}

interface TransferComposeOptions {
  format?: LazyTransferStatement['format'];
  /** Name of the signing site. */
  source: string;
  sequence: number;
  at: Date;
  /** Site label of the sender; undefined if it has none, as for a collector. */
  label: string | undefined;
  content: TransferContentReader;
  /** Refuses if any content is missing or has changed. */
  refuseLacking: (carried: Sequence<TransferBlob>) => Promise<void>;
  /** Spill file for long lists; in memory if undefined. */
  aside?: SpillStorage | undefined;
}

/** Returns the signed statement of a transfer. */
export const compose = async (
  carrying: TransferContents,
  intent: TransferIntent,
  { site, ...composing }: Omit<TransferComposeOptions, 'source' | 'format'> & { site: Site },
): Promise<Transfer> => {
  const format = formatFor(site.key.publicKey);
  return signTransfer(site, await composeUnsigned(carrying, intent, { ...composing, source: site.name, format }));
};

/** Like `compose`, without a signature. */
export async function composeUnsigned(
  { accounts, assertions, packages, feeds = [], fleets = [], contents, leftOut, ...more }: TransferContents,
  { sites, base, findPresent, expiresDays, partSize, reason }: TransferIntent,
  { format = 1, source, sequence, at, label, content, refuseLacking, aside }: TransferComposeOptions,
): Promise<Omit<Transfer, 'signatures'>> {
  const streams = new Map(assertions.values().map((stream) => [stream['sha3-384'], stream]));
  const { 'larder-releases': releases = [] } = more;
  const plain = [...feeds, ...releases.flatMap(({ files }) => files)];
  const plainContents = new Map(plain.map(({ content: bytes }) => [bytes['sha3-384'], bytes]));
  const present = await findPresent([...new Set([...streams.keys(), ...contents.keys(), ...plainContents.keys()])]);
  const carried = new PackedList<TransferBlob>(aside);
  const carry = (blob: TransferBlob): void => {
    if (!present.has(blob['sha3-384'])) carried.add(blob);
  };
  for (const [sha3, stream] of streams)
    carry(blobOf(contents.get(sha3) ?? { content: stream, mediaType: 'application/x.ubuntu.assertion' }));
  for (const [sha3, entry] of contents) if (!streams.has(sha3)) carry(blobOf(entry));
  for (const [sha3, bytes] of plainContents)
    if (!streams.has(sha3) && !contents.has(sha3)) carry(blobOf({ content: bytes, mediaType: anyBytes }));
  await refuseLacking(carried);
  const statement: Omit<LazyTransferStatement, 'parts'> = {
    format,
    source,
    sequence,
    for: [...sites].sort(),
    created: timestamp(at),
    expires: timestamp(after(at, days(expiresDays))),
    base,
    ...(reason !== undefined && { reason }),
    ...(label !== undefined && { label }),
    accounts,
    assertions,
    packages,
    // Older releases refuse these members, so a transfer without such content does not have them.
    ...(feeds.length > 0 && { feeds }),
    ...(fleets.length > 0 && { fleets }),
    ...(releases.length > 0 && { 'larder-releases': releases }),
    blobs: carried,
    'left-out': leftOut,
  };
  return withParts(statement, partSize, { content, aside });
}

const blobOf = ({ content, mediaType }: { content: TransferContent; mediaType: string }): TransferBlob => ({
  ...content,
  'media-type': mediaType,
});

export const signTransfer = async (
  { key }: Pick<Site, 'key'>,
  transfer: Omit<Transfer, 'signatures'>,
): Promise<Transfer> => ({ ...transfer, signatures: await addSignature(transfer.bytes, key) });

/** Cuts the content into parts. Reads the content to compute the digests of its pieces. */
async function withParts(
  statement: Omit<LazyTransferStatement, 'parts'>,
  partSize: number | undefined,
  { content, aside }: Pick<TransferComposeOptions, 'content' | 'aside'>,
): Promise<Omit<Transfer, 'signatures'>> {
  const parts: PackedList<TransferPiece>[] = [];
  for (const cuts of cutIntoParts(statement, partSize)) {
    const pieces = new PackedList<TransferPiece>(aside);
    for (const cut of cuts) {
      const blob = statement.blobs.at(cut.blob)!;
      pieces.add({ ...cut, sha256: cut.size === blob.size ? blob.sha256 : await digestOf(blob, cut, content) });
    }
    parts.push(pieces);
  }
  const whole = { ...statement, parts };
  const bytes = writeStatement(whole);
  refuseLong(bytes);
  return { bytes, statement: whole };
}

/** Refuses a statement that receivers would reject as too long. */
function refuseLong({ length }: Buffer): void {
  if (length <= maxStatementBytes) return;
  throw new Refusal(
    'conflict',
    `The statement of the transfer takes ${inBytes(length)}, but may take at most ${inBytes(maxStatementBytes)}, which is enough for about ` +
      "20,000 snaps. Make several transfers with fewer packages: in a store with --packages 'snap/*' and --packages 'charm/*', in a collector " +
      'from smaller folders.',
  );
}

async function digestOf(
  blob: TransferBlob,
  { offset, size }: { offset: number; size: number },
  content: TransferContentReader,
): Promise<string> {
  const digest = createDigest('content sha256');
  for await (const bytes of content(blob, offset, size)) digest.update(bytes);
  return digest.digest('hex');
}

/** Returns the statement of an earlier transfer. Refuses if it does not have this part. */
export function readMadeStatement(
  bytes: Buffer,
  { sequence, part }: { sequence: number; part: number },
): LazyTransferStatement {
  const statement = readStatement(bytes);
  if (part <= statement.parts.length) return statement;
  throw new Refusal(
    'resource-not-found',
    `Transfer number ${String(sequence)} has ${formatCount(statement.parts.length, 'part')}.`,
  );
}

export interface WrittenTransfer {
  id: string;
  statement: LazyTransferStatement;
  files: string[];
  bytes: number;
  /** Digest and size of each file. */
  written: WrittenParts['files'];
}

/**
 * Writes all parts of a transfer, or one of them. The files get their final names after all of them are durable and `remember` has recorded
 * the transfer.
 *
 * @param file the file to write; if there are several, the part number goes before the extension
 */
export async function writeTransferFiles(
  transfer: Transfer,
  { file, part: only }: { file: string; part?: number },
  writing: PartWriteOptions,
  remember: (made: WrittenTransfer) => unknown,
): Promise<WrittenTransfer> {
  const numbers = only === undefined ? transfer.statement.parts.map((_, part) => part + 1) : [only];
  const files = numbers.map((part) => partFile(file, part, numbers.length));
  const placed = await writeParts(transfer, numbers, files, writing);
  const made = {
    id: idOf(transfer.bytes),
    statement: transfer.statement,
    files,
    bytes: placed.bytes,
    written: placed.files,
  };
  try {
    await remember(made);
  } catch (error) {
    await placed.discard();
    throw error;
  }
  await placed.place();
  return made;
}

/** Returns the figures of a statement, for reports and programs. */
export const figuresOf = (statement: LazyTransferStatement) => ({
  packages: statement.packages.length,
  revisions: statement.packages.values().reduce((sum, { revisions }) => sum + revisions.length, 0),
  contents: [...contentsOf(statement)].length,
  carried: statement.blobs.length,
  bytes: statement.blobs.values().reduce((sum, { size }) => sum + size, 0),
  parts: statement.parts.length,
});
