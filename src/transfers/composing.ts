// A transfer from what is to be carried, wherever that lies: which contents go in, how they are cut, who signs, which files.
import { createHash } from 'node:crypto';

import type { Statement } from '#acts/transfer-statement.ts';
import type { TransferBase, TransferBlob, TransferContent, TransferPiece } from '#api/wire.ts';
import { bytes as inBytes } from '#domain/byte-size.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { PackedList, type Aside, type Sequence } from '#domain/sequence.ts';
import { cutInto } from './form/cutting.ts';
import type { Transfer } from './form/members.ts';
import { signed } from './form/signatures.ts';
import { contentsOf, idOf, largestStatement, readStatement, writeStatement } from './form/statement.ts';
import type { Content } from './form/write.ts';
import { partFile, writeParts, type Placed, type Writing } from './part-files.ts';
import type { Site } from './site.ts';

/** What whoever makes a transfer decides. */
export interface Intent {
  /** The sites that it is for; none stands for any. */
  sites: readonly string[];
  /** Leaves out what was sent to this site before, or what a request says is there. */
  base: TransferBase;
  /** The contents that are there already, of some. */
  known: (contents: readonly string[]) => Promise<ReadonlySet<string>>;
  expiresDays: number;
  partSize: number | undefined;
  reason: string | undefined;
}

/** What a statement speaks of, and of all content what it is, in the order in which a transfer carries it. */
export interface Carrying extends Pick<Statement, 'accounts' | 'packages' | 'assertions'> {
  contents: ReadonlyMap<string, { content: TransferContent; mediaType: string }>;
  leftOut: Statement['left-out'];
}

interface Composing {
  /** What signs it is called so. */
  source: string;
  sequence: number;
  at: Date;
  /** Of the site that makes it; nothing where it has none, as a collector has none. */
  label: string | undefined;
  content: Content;
  /** Refuses content that is not there, or not what it was. */
  refuseLacking: (carried: Sequence<TransferBlob>) => Promise<void>;
  /** Where its lists lie as long as anybody needs them; in memory, where there is no such place. */
  aside?: Aside | undefined;
}

/** The statement of a transfer, signed. */
export const compose = async (
  carrying: Carrying,
  intent: Intent,
  { site, ...composing }: Omit<Composing, 'source'> & { site: Site },
): Promise<Transfer> => signedBy(site, await composed(carrying, intent, { ...composing, source: site.name }));

/** The same, and nobody has signed it. */
export async function composed(
  { accounts, assertions, packages, contents, leftOut }: Carrying,
  { sites, base, known, expiresDays, partSize, reason }: Intent,
  { source, sequence, at, label, content, refuseLacking, aside }: Composing,
): Promise<Omit<Transfer, 'signatures'>> {
  const streams = new Map(assertions.values().map((one) => [one['sha3-384'], one]));
  const there = await known([...new Set([...streams.keys(), ...contents.keys()])]);
  const carried = new PackedList<TransferBlob>(aside);
  const carry = (blob: TransferBlob): void => {
    if (!there.has(blob['sha3-384'])) carried.add(blob);
  };
  for (const [sha3, one] of streams)
    carry(blobOf(contents.get(sha3) ?? { content: one, mediaType: 'application/x.ubuntu.assertion' }));
  for (const [sha3, one] of contents) if (!streams.has(sha3)) carry(blobOf(one));
  await refuseLacking(carried);
  const statement: Omit<Statement, 'parts'> = {
    format: 1,
    ...{ source, sequence, for: [...sites].sort() },
    ...{ created: timestamp(at), expires: timestamp(after(at, days(expiresDays))), base },
    ...(reason !== undefined && { reason }),
    ...(label !== undefined && { label }),
    ...{ accounts, assertions, packages, blobs: carried, 'left-out': leftOut },
  };
  return withParts(statement, partSize, { content, aside });
}

const blobOf = ({ content, mediaType }: { content: TransferContent; mediaType: string }): TransferBlob => ({
  ...content,
  'media-type': mediaType,
});

export const signedBy = ({ seed }: Pick<Site, 'seed'>, transfer: Omit<Transfer, 'signatures'>): Transfer => ({
  ...transfer,
  signatures: signed(transfer.bytes, seed),
});

/** Cuts it; the digests of pieces are those of the content as it is read. */
async function withParts(
  statement: Omit<Statement, 'parts'>,
  partSize: number | undefined,
  { content, aside }: Pick<Composing, 'content' | 'aside'>,
): Promise<Omit<Transfer, 'signatures'>> {
  const parts: PackedList<TransferPiece>[] = [];
  for (const cuts of cutInto(statement, partSize)) {
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

/** Refuses to make what nobody could receive. */
function refuseLong({ length }: Buffer): void {
  if (length <= largestStatement) return;
  throw new Refusal(
    'conflict',
    `To say what is carried takes ${inBytes(length)}, and a transfer has ${inBytes(largestStatement)} for that, which is enough for some ` +
      "20,000 snaps. Make several with fewer packages in each: a store takes --packages 'snap/*' and --packages 'charm/*', and a collector " +
      'gathers from folders that hold less.',
  );
}

async function digestOf(
  blob: TransferBlob,
  { offset, size }: { offset: number; size: number },
  content: Content,
): Promise<string> {
  const digest = createHash('sha256');
  for await (const bytes of content(blob, offset, size)) digest.update(bytes);
  return digest.digest('hex');
}

/** The statement of a transfer of which a part is made again; refuses a part that it has not. */
export function madeBefore(bytes: Buffer, { sequence, part }: { sequence: number; part: number }): Statement {
  const statement = readStatement(bytes);
  if (part <= statement.parts.length) return statement;
  throw new Refusal(
    'resource-not-found',
    `Transfer number ${String(sequence)} has ${String(statement.parts.length)} parts.`,
  );
}

export interface Made {
  id: string;
  statement: Statement;
  files: string[];
  bytes: number;
  /** The digest and the size of each file. */
  written: Placed['files'];
}

/**
 * Writes all parts of a transfer; they have their names when each of them is durable, and whoever made it has remembered it.
 *
 * @param file the file to write; with several parts their number goes before its ending
 */
export async function writeAll(
  transfer: Transfer,
  file: string,
  writing: Writing,
  remember: (made: Made) => Promise<unknown>,
): Promise<Made> {
  const numbers = transfer.statement.parts.map((_, part) => part + 1);
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

/** What a statement says, for a person and for a program. */
export const figuresOf = (statement: Statement) => ({
  packages: statement.packages.length,
  revisions: statement.packages.values().reduce((sum, { revisions }) => sum + revisions.length, 0),
  contents: [...contentsOf(statement)].length,
  carried: statement.blobs.length,
  bytes: statement.blobs.values().reduce((sum, { size }) => sum + size, 0),
  parts: statement.parts.length,
});
