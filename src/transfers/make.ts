// Makes a transfer of packages in this store under a signed statement.
import { randomUUID } from 'node:crypto';

import { makeTransfer, makeTransferAgain, type Leaving } from '#acts/transfers.ts';
import type { Acts, By } from '#acts/act.ts';
import type { Statement } from '#acts/transfer-statement.ts';
import type { TransferBlob, TransferContent, TransferRequest } from '#api/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Aside, Sequence } from '#domain/sequence.ts';
import { mayCome, type SiteLabels } from '#domain/site-label.ts';
import { ChunkReader, type Files } from '#files/streamed.ts';
import type { Records } from '#records/index.ts';
import { readMentions } from '#registry/mentions.ts';
import { compose, madeBefore, signedBy, writeAll, type Intent, type Made } from './composing.ts';
import type { Content } from './form/write.ts';
import { streamsOf } from './held-assertions.ts';
import { holdingsOf, type Contents, type Wanted } from './holdings.ts';
import { writeParts } from './part-files.ts';
import { heldFor } from './request/wanted.ts';
import type { Site } from './site.ts';
import { digestsOf, toldBefore } from './told.ts';
import { keepWhole, wholeOf } from './whole.ts';

export interface Making {
  records: Records;
  acts: Acts;
  by: By;
  blobs: Blobs;
  site: Site;
  labels: SiteLabels;
  now: Now;
  /** Runs file operations with the rights of the calling user. */
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Aborts the work and removes all of its files. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
  files?: Files;
  /** Spill file for long lists, including those of the statement; in memory if undefined. */
  aside?: Aside | undefined;
}

export interface Wished extends Intent {
  /** Globs of `namespace/name`. */
  packages: readonly string[];
  /** A request; its subscriptions are included in addition to `packages`. */
  request?: TransferRequest | undefined;
  /** Name of the medium, as given by the person who carries it. */
  media: string | undefined;
  /** The file to write; if there are several parts, the part number goes before the extension. */
  file: string;
}

/** Makes a transfer of packages in this store. The files get their final names when all of them are durable. */
export async function make(wished: Wished, making: Making): Promise<Made> {
  const { records, acts, by, blobs, site, labels, now, aside } = making;
  const at = now();
  if (wished.request !== undefined) refuseDownward(wished.request, labels);
  // The images that resources name are read in the background, so read the outstanding ones now.
  let unreadable: number;
  do unreadable = await readMentions(records, acts, blobs);
  while ((await records.images.unreadContents(unreadable + 1)).length > unreadable);
  const { packages, request } = wished;
  const texts = new Set<string>();
  const keep = async (text: string): Promise<TransferContent> => {
    const content = await keepText(text, blobs);
    texts.add(content['sha3-384']);
    return content;
  };
  const contents: Contents = { bytesOf: (sha3) => wholeOf(blobs, sha3), keep, aside };
  const hold = (more: Partial<Wanted>) => holdingsOf(records, { packages, at: timestamp(at), ...more }, contents);
  const all = await (request === undefined ? hold({}) : heldFor(request, records, hold));
  if (all.packages.length === 0 && all.assertions.size === 0) {
    const what = request === undefined ? `is called ${packages.join(' or ')}` : 'is what the request wishes for';
    throw new Refusal('resource-not-found', `Nothing here ${what}.`);
  }
  const told = await digestsOf(all.packages, records);
  const { unchanged, base } = await toldBefore(wished.base, told, records);
  const held = unchanged.size === 0 ? all : await hold({ except: unchanged });
  for (const id of unchanged) told.delete(id);
  const assertions = [];
  for await (const text of streamsOf(records.assertions, held.assertions)) assertions.push(await keep(text));
  const sequence = (await records.transfers.newestMade()) + 1;
  making.signal.throwIfAborted();
  const content = contentFrom(blobs, making.signal);
  const transfer = await compose(
    { ...held, assertions },
    { ...wished, base },
    {
      ...{ site, sequence, at, label: labels.label, content, aside },
      refuseLacking: (carried) => refuseLacking(carried, blobs),
    },
  );
  const kept = await keepWhole(transfer.bytes, blobs);
  return writeAll(transfer, wished.file, { ...making, content }, ({ id, statement, bytes, written }) => {
    making.signal.throwIfAborted();
    const made = { id, sequence, sites: statement.for, statement: kept.sha3_384, bytes };
    const leaving = leavingOf(statement, written, wished.media);
    const carried = [...statement.blobs.values().map((blob) => blob['sha3-384'])];
    const those = carried.filter((one) => texts.has(one));
    return acts.do(makeTransfer, by, { ...made, told, leaving, contents: carried, texts: those });
  });
}

/** Refuses a request from a site that would refuse the transfer, because its site label is lower than the label of this site. */
function refuseDownward({ site, label: there }: TransferRequest, { label, levels = [] }: SiteLabels): void {
  if (mayCome(label, there === undefined ? { levels } : { label: there, levels })) return;
  throw new Refusal(
    'conflict',
    `What is made here has the label '${label ?? ''}', and '${site}' says that it has ${there === undefined ? 'none' : `'${there}'`}, ` +
      'which is not as high: it would not let it in, and nothing was made.',
  );
}

/** Writes one part of a transfer again with identical bytes. */
export async function makeAgain(
  { sequence, part, file, media }: { sequence: number; part: number; file: string; media: string | undefined },
  making: Making,
): Promise<Made> {
  const { records, acts, by, blobs, site } = making;
  const before = await records.transfers.made(sequence);
  const bytes = before && (await wholeOf(blobs, before.statement));
  if (before === undefined || bytes === undefined) {
    throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made here.`);
  }
  const statement = madeBefore(bytes, { sequence, part });
  await refuseGone({ sequence, part }, statement, blobs);
  const transfer = signedBy(site, { bytes, statement });
  const placed = await writeParts(transfer, [part], [file], { ...making, content: contentFrom(blobs, making.signal) });
  try {
    await acts.do(makeTransferAgain, by, { id: before.id, leaving: leavingOf(statement, placed.files, media) });
  } catch (error) {
    await placed.discard();
    throw error;
  }
  await placed.place();
  return { id: before.id, statement, files: [file], bytes: placed.bytes, written: placed.files };
}

const leavingOf = (
  { parts, label }: Pick<Statement, 'parts' | 'label'>,
  files: Made['written'],
  media: string | undefined,
): Leaving => ({ files, of: parts.length, label: label ?? null, media: media ?? null });

async function keepText(text: string, blobs: Pick<Blobs, 'put'>): Promise<TransferContent> {
  const { sha256, sha3_384, size } = await blobs.put(Buffer.from(text), { id: randomUUID() });
  return { sha256, 'sha3-384': sha3_384, size };
}

/** Refuses to write a part again if one of its contents was deleted. */
async function refuseGone(
  { sequence, part }: { sequence: number; part: number },
  { parts, blobs: carried }: Statement,
  blobs: Pick<Blobs, 'stat'>,
): Promise<void> {
  for (const { blob } of parts[part - 1]!) {
    const { 'sha3-384': sha3_384, size } = carried.at(blob)!;
    if ((await blobs.stat(sha3_384))?.size === size) continue;
    throw new Refusal(
      'conflict',
      `The content ${sha3_384} that part ${String(part)} of transfer number ${String(sequence)} carries is not here any more, so this ` +
        'part cannot be made again; make another transfer.',
    );
  }
}

async function refuseLacking(carried: Sequence<TransferBlob>, blobs: Pick<Blobs, 'stat'>): Promise<void> {
  for (const { 'sha3-384': sha3_384, size } of carried) {
    const found = await blobs.stat(sha3_384);
    if (found?.size === size) continue;
    throw new Refusal(
      'conflict',
      `The content ${sha3_384} is ${found === undefined ? 'missing' : 'damaged'} here, so nothing was made; 'larder verify' says what needs it.`,
    );
  }
}

function contentFrom(blobs: Pick<Blobs, 'borrow'>, signal: AbortSignal): Content {
  const reader = new ChunkReader();
  return async function* (blob, offset, size) {
    const loan = await blobs.borrow(blob['sha3-384']);
    try {
      for await (const bytes of reader.read(loan.file, offset, size)) {
        signal.throwIfAborted();
        yield bytes;
      }
    } finally {
      await loan.release();
    }
  };
}
