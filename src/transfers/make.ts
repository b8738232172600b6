// Making a transfer: what a store holds, under one statement that it signs.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';

import { makeTransfer } from '#acts/transfers.ts';
import type { Acts, By } from '#acts/act.ts';
import type { TransferBase, TransferBlob, TransferContent, TransferStatement } from '#api/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Files } from '#files/streamed.ts';
import type { Records } from '#records/index.ts';
import { readMentions } from '#registry/mentions.ts';
import { cutInto } from './form/cutting.ts';
import type { Transfer } from './form/members.ts';
import { signed } from './form/signatures.ts';
import { contentsOf, idOf, readStatement, writeStatement } from './form/statement.ts';
import type { Content } from './form/write.ts';
import { holdingsOf } from './holdings.ts';
import { partFile, writeParts } from './part-files.ts';
import type { Site } from './site.ts';
import { wholeOf } from './whole.ts';

export interface Making {
  records: Records;
  acts: Acts;
  by: By;
  blobs: Blobs;
  site: Site;
  now: Now;
  /** Does what concerns the file that is written with the rights of whoever wants it. */
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>;
  progress: (step: string, done: number, total: number) => void;
  files?: Files;
}

export interface Wished {
  /** Globs of `namespace/name`. */
  packages: readonly string[];
  /** The sites that it is for; none stands for any. */
  sites: readonly string[];
  /** Leaves out what was sent to this site before, or what a request says is there. */
  base: TransferBase;
  /** The contents that are there already, of some. */
  known: (contents: readonly string[]) => Promise<ReadonlySet<string>>;
  expiresDays: number;
  partSize: number | undefined;
  reason: string | undefined;
  /** The file to write; with several parts their number goes before its ending. */
  file: string;
}

export interface Made {
  id: string;
  statement: TransferStatement;
  files: string[];
  bytes: number;
}

/** Makes a transfer of what is held here; its files have their names when all of them are durable. */
export async function make(wished: Wished, making: Making): Promise<Made> {
  const { records, acts, by, blobs, site, now } = making;
  const at = now();
  // Which images the resources name is read beside what is answered, and may not have been read yet.
  let unreadable: number;
  do unreadable = await readMentions(records, acts, blobs);
  while ((await records.images.unreadContents(unreadable + 1)).length > unreadable);
  const held = await holdingsOf(records, { packages: wished.packages, at: timestamp(at) }, (sha3) =>
    wholeOf(blobs, sha3),
  );
  if (held.packages.length === 0) {
    throw new Refusal('resource-not-found', `Nothing here is called ${wished.packages.join(' or ')}.`);
  }
  const assertions = [];
  for (const text of held.assertions) assertions.push(await keepText(text, blobs));
  const all = new Map<string, TransferBlob>();
  for (const one of assertions) all.set(one['sha3-384'], { ...one, 'media-type': 'application/x.ubuntu.assertion' });
  for (const [sha3, { content, mediaType }] of held.contents) all.set(sha3, { ...content, 'media-type': mediaType });
  const known = await wished.known([...all.keys()]);
  const carried = [...all.values()].filter((blob) => !known.has(blob['sha3-384']));
  await refuseLacking(carried, blobs);
  const statement: Omit<TransferStatement, 'parts'> = {
    format: 1,
    ...{ source: site.name, sequence: (await records.transfers.newestMade()) + 1, for: [...wished.sites].sort() },
    ...{ created: timestamp(at), expires: timestamp(after(at, days(wished.expiresDays))), base: wished.base },
    ...(wished.reason !== undefined && { reason: wished.reason }),
    ...{ accounts: held.accounts, assertions, packages: held.packages, blobs: carried, 'left-out': held.leftOut },
  };
  const transfer = signedBy(site, await withParts(statement, wished.partSize, blobs));
  const kept = await blobs.put(transfer.bytes, { id: randomUUID() });
  const id = idOf(transfer.bytes);
  const numbers = transfer.statement.parts.map((_, part) => part + 1);
  const files = numbers.map((part) => partFile(wished.file, part, numbers.length));
  const placed = await writeParts(transfer, numbers, files, { ...making, content: contentFrom(blobs) });
  try {
    const made = {
      id,
      sequence: statement.sequence,
      sites: statement.for,
      statement: kept.sha3_384,
      bytes: placed.bytes,
    };
    await acts.do(makeTransfer, by, { ...made, contents: carried.map((blob) => blob['sha3-384']) });
  } catch (error) {
    await placed.discard();
    throw error;
  }
  await placed.place();
  return { id, statement: transfer.statement, files, bytes: placed.bytes };
}

/** Makes one part of a transfer again, with the same bytes. */
export async function makeAgain(
  { sequence, part, file }: { sequence: number; part: number; file: string },
  making: Making,
): Promise<Made> {
  const { records, blobs, site } = making;
  const before = await records.transfers.made(sequence);
  const bytes = before && (await wholeOf(blobs, before.statement));
  if (before === undefined || bytes === undefined) {
    throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made here.`);
  }
  const statement = readStatement(bytes);
  if (part > statement.parts.length) {
    throw new Refusal(
      'resource-not-found',
      `Transfer number ${String(sequence)} has ${String(statement.parts.length)} parts.`,
    );
  }
  const transfer = signedBy(site, { bytes, statement });
  const placed = await writeParts(transfer, [part], [file], { ...making, content: contentFrom(blobs) });
  await placed.place();
  return { id: before.id, statement, files: [file], bytes: placed.bytes };
}

const signedBy = ({ seed }: Site, transfer: Omit<Transfer, 'signatures'>): Transfer => ({
  ...transfer,
  signatures: signed(transfer.bytes, seed),
});

async function keepText(text: string, blobs: Pick<Blobs, 'put'>): Promise<TransferContent> {
  const { sha256, sha3_384, size } = await blobs.put(Buffer.from(text), { id: randomUUID() });
  return { sha256, 'sha3-384': sha3_384, size };
}

async function refuseLacking(carried: readonly TransferBlob[], blobs: Pick<Blobs, 'stat'>): Promise<void> {
  for (const { 'sha3-384': sha3_384, size } of carried) {
    const found = await blobs.stat(sha3_384);
    if (found?.size === size) continue;
    throw new Refusal(
      'conflict',
      `The content ${sha3_384} is ${found === undefined ? 'missing' : 'damaged'} here, so nothing was made; 'larder verify' says what needs it.`,
    );
  }
}

/** Cuts it; the digests of pieces are those of the content as it is read. */
async function withParts(
  statement: Omit<TransferStatement, 'parts'>,
  partSize: number | undefined,
  blobs: Blobs,
): Promise<Omit<Transfer, 'signatures'>> {
  const parts: TransferStatement['parts'] = [];
  for (const cuts of cutInto(statement, partSize)) {
    const pieces: TransferStatement['parts'][number] = [];
    for (const cut of cuts) {
      const blob = statement.blobs[cut.blob]!;
      pieces.push({ ...cut, sha256: cut.size === blob.size ? blob.sha256 : await digestOf(blob, cut, blobs) });
    }
    parts.push(pieces);
  }
  const whole = { ...statement, parts };
  return { bytes: writeStatement(whole), statement: whole };
}

async function digestOf(
  blob: TransferBlob,
  { offset, size }: { offset: number; size: number },
  blobs: Blobs,
): Promise<string> {
  const digest = createHash('sha256');
  for await (const bytes of contentFrom(blobs)(blob, offset, size)) digest.update(bytes);
  return digest.digest('hex');
}

const contentFrom = (blobs: Pick<Blobs, 'borrow'>): Content =>
  async function* (blob, offset, size) {
    if (size === 0) return;
    const loan = await blobs.borrow(blob['sha3-384']);
    try {
      yield* createReadStream(loan.file, { start: offset, end: offset + size - 1, highWaterMark: 1024 * 1024 });
    } finally {
      await loan.release();
    }
  };

/** What a statement says, for a person and for a program. */
export const figuresOf = (statement: TransferStatement) => ({
  packages: statement.packages.length,
  revisions: statement.packages.reduce((sum, { revisions }) => sum + revisions.length, 0),
  contents: [...contentsOf(statement)].length,
  carried: statement.blobs.length,
  bytes: statement.blobs.reduce((sum, { size }) => sum + size, 0),
  parts: statement.parts.length,
});
