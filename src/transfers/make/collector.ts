// A collector makes signed transfers from downloaded files without a store. It is a folder with three things: `collector.json`, the
// identity that other sites trust; `collector.key`, the secret key; and `sent/`, the statements that it has signed, which give the next
// number and the contents already sent to each site.
import { computeDigest, randomBytes } from '#domain/cryptography.ts';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { findProblems } from '#contract/schema.ts';
import type { SiteIdentity, TransferBlob, TransferContent } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Sequence } from '#domain/sequence.ts';
import { formatCount } from '#domain/quantities.ts';
import { createFile, makeFolder, prepareFile } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';
import { recordExports, type CollectorExportContext } from './collector-exports.ts';
import {
  compose,
  readMadeStatement,
  signTransfer,
  writeTransferFiles,
  type TransferIntent,
  type WrittenTransfer,
} from './compose.ts';
import { SigningSeed } from '../statement/site-keys.ts';
import { readStatement } from '../statement/statement.ts';
import { ContentMismatch, type TransferContentReader } from '../parts/part-bytes.ts';
import type { GatheredRange } from '../gather/folder.ts';
import type { GatheredFolder } from '../gather/gather.ts';
import type { PartWriteOptions } from '../parts/part-files.ts';
import type { ParsedRequest } from '../request/request-file.ts';
import { identityOf, type Site } from '../site.ts';

export interface Collector {
  folder: string;
  site: Site;
}

const identityFile = 'collector.json';
const keyFile = 'collector.key';

/** Returns whether a folder belongs to a collector. */
export const isCollector = (folder: string): boolean => existsSync(join(folder, identityFile));

/** Creates a collector in a folder. Only the current user can read its key. Like the site key of a store, the key is not encrypted. */
export function makeCollector(folder: string, name: string): Collector {
  if (isCollector(folder)) throw new Refusal('conflict', `There is a collector in ${folder} already.`);
  makeFolder(folder);
  makeFolder(join(folder, 'sent'));
  const secret = randomBytes(32);
  const site = { name, key: new SigningSeed(secret) };
  // Write the identity last, because it marks the folder as a collector.
  rmSync(join(folder, keyFile), { force: true });
  createFile(join(folder, keyFile), `${secret.toString('base64url')}\n`, 0o600);
  createFile(join(folder, identityFile), `${JSON.stringify(identityOf(site), null, 2)}\n`, 0o644);
  return { folder, site };
}

/** Reads the collector of a folder. Refuses a corrupt one. */
export function readCollector(folder: string): Collector {
  const text = readFileSync(join(folder, identityFile), 'utf8');
  const key = readIfPresent(join(folder, keyFile))?.trim() ?? '';
  const identity = parsed(text);
  if (identity === undefined || !/^[A-Za-z0-9_-]{43}$/.test(key)) {
    throw new Refusal(
      'conflict',
      `The collector in ${folder} is corrupt. Restore ${identityFile} and ${keyFile} from a copy.`,
    );
  }
  const site = { name: identity.site, key: new SigningSeed(Buffer.from(key, 'base64url')) };
  if (!identity.keys.includes(site.key.publicKey)) {
    throw new Refusal('conflict', `${join(folder, keyFile)} is not the key that ${identityFile} beside it names.`);
  }
  return { folder, site };
}

function parsed(text: string): SiteIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return findProblems('SiteIdentity', value).length === 0 ? (value as SiteIdentity) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the numbers of its transfers in ascending order. */
const numbersIn = ({ folder }: Collector): number[] =>
  readdirSync(join(folder, 'sent'))
    .flatMap((name) => /^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

const sentFile = ({ folder }: Collector, sequence: number, ending = 'json'): string =>
  join(folder, 'sent', `${String(sequence)}.${ending}`);

export const nextSequence = (collector: Collector): number => (numbersIn(collector).at(-1) ?? 0) + 1;

/** Records that a transfer was lost. Its contents then count as not sent. */
export function recordLost(collector: Collector, sequence: number): void {
  if (!existsSync(sentFile(collector, sequence)))
    throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made by this collector.`);
  const mark = sentFile(collector, sequence, 'lost');
  if (!existsSync(mark)) createFile(mark, '', 0o600);
}

/** Returns those of the contents that were already sent to a site. */
export function findSent(collector: Collector, site: string, contents: readonly string[]): ReadonlySet<string> {
  const requested = new Set(contents);
  const sent = new Set<string>();
  for (const sequence of numbersIn(collector)) {
    if (existsSync(sentFile(collector, sequence, 'lost'))) continue;
    const statement = readStatement(readFileSync(sentFile(collector, sequence)));
    if (statement.for.length > 0 && !statement.for.includes(site)) continue;
    for (const { 'sha3-384': sha3_384 } of statement.blobs) if (requested.has(sha3_384)) sent.add(sha3_384);
  }
  return sent;
}

/** Returns the gathered packages in the form of a transfer, with access to their bytes. */
export function prepareGathered({ assertions: texts, places, ...gathered }: GatheredFolder) {
  if (gathered.packages.length === 0 && texts.length === 0) throw nothingToCarry(gathered);
  const streams = new Map(texts.map((text) => [digestsOf(text), Buffer.from(text)]));
  const assertions: TransferContent[] = [...streams.keys()];
  const bySha3 = new Map([...streams].map(([{ 'sha3-384': sha3_384 }, bytes]) => [sha3_384, bytes]));
  return {
    carrying: { ...gathered, assertions },
    content: contentFrom(places, bySha3),
    refuseLacking: async (carried: Sequence<TransferBlob>): Promise<void> => {
      refuseGone(
        carried.values().filter((blob) => !bySha3.has(blob['sha3-384'])),
        places,
      );
    },
  };
}

const maxReasons = 20;

/** Returns the refusal for a folder without usable files, with the reason for each file. */
function nothingToCarry({ leftOut }: Pick<GatheredFolder, 'leftOut'>): Refusal {
  const reasons = leftOut.slice(0, maxReasons).map(({ what: subject, why: reason }) => `${subject}: ${reason}`);
  const more = leftOut.length - reasons.length;
  return new Refusal(
    'resource-not-found',
    [
      'No file in the folder can be part of a transfer, so no transfer is made.',
      ...(reasons.length === 0 ? ['The folder has no files.'] : reasons),
      ...(more > 0 ? [`${formatCount(more, 'more file')} left out.`] : []),
    ].join(' '),
  );
}

interface CollectorWriting extends Omit<PartWriteOptions, 'content'> {
  collector: Collector;
  leaving: CollectorExportContext;
}

/** Makes a transfer of the gathered packages and writes its files. */
export const makeGatheredTransfer = (
  gathered: GatheredFolder,
  intent: TransferIntent & { file: string },
  { collector, leaving, ...writing }: CollectorWriting,
): Promise<WrittenTransfer> =>
  refuseChanged(async () => {
    const { carrying, content, refuseLacking } = prepareGathered(gathered);
    const { site } = collector;
    const sequence = nextSequence(collector);
    const composing = { site, sequence, at: leaving.now, label: undefined, content, refuseLacking };
    const transfer = await compose(carrying, intent, composing);
    return writeTransferFiles(transfer, intent, { ...writing, content }, (made) => {
      // The collector derives the next number and the sent contents from the stored statements.
      const places = JSON.stringify({ places: [...gathered.places], texts: gathered.assertions });
      rmSync(sentFile(collector, sequence, 'places'), { force: true });
      createFile(sentFile(collector, sequence, 'places'), places, 0o600);
      createFile(sentFile(collector, sequence), transfer.bytes, 0o600);
      recordExports(collector.folder, made, leaving);
    });
  });

/** Writes one part of a transfer again with identical bytes. The gathered files must still be in place. */
export async function makePartAgain(
  { sequence, part, file }: { sequence: number; part: number; file: string },
  { collector, leaving, ...writing }: CollectorWriting,
): Promise<WrittenTransfer> {
  const bytes = existsSync(sentFile(collector, sequence)) ? readFileSync(sentFile(collector, sequence)) : undefined;
  if (bytes === undefined)
    throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made by this collector.`);
  const statement = readMadeStatement(bytes, { sequence, part });
  const { places, texts } = JSON.parse(readFileSync(sentFile(collector, sequence, 'places'), 'utf8')) as {
    places: [string, GatheredRange[]][];
    texts: string[];
  };
  const streams = new Map(texts.map((text) => [digestsOf(text)['sha3-384'], Buffer.from(text)]));
  const content = contentFrom(new Map(places), streams);
  return refuseChanged(async () => {
    const transfer = await signTransfer(collector.site, { bytes, statement });
    return writeTransferFiles(transfer, { file, part }, { ...writing, content }, (made) => {
      recordExports(collector.folder, made, leaving);
    });
  });
}

const digestsOf = (text: string): TransferContent => ({
  sha256: computeDigest('content sha256', text),
  'sha3-384': computeDigest('content sha3-384', text),
  size: Buffer.byteLength(text),
});

const gone = (file: string): Refusal =>
  new Refusal('conflict', `${file} has changed since it was gathered. Gather the folder again.`);

async function refuseChanged<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ContentMismatch)) throw error;
    throw new Refusal('conflict', 'A file in the folder has changed since it was gathered. Gather the folder again.');
  }
}

function refuseGone(
  carried: IteratorObject<TransferBlob>,
  places: ReadonlyMap<string, readonly GatheredRange[]>,
): void {
  for (const { file, offset, size } of carried.flatMap((blob) => places.get(blob['sha3-384']) ?? [])) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined || stats.size < offset + size) throw gone(file);
  }
}

/** Reads content from its files. Content in several pieces is read piece by piece. */
const contentFrom = (
  places: ReadonlyMap<string, readonly GatheredRange[]>,
  streams: ReadonlyMap<string, Buffer>,
): TransferContentReader =>
  async function* (blob, offset, size) {
    const text = streams.get(blob['sha3-384']);
    if (text !== undefined) {
      yield text.subarray(offset, offset + size);
      return;
    }
    let at = 0;
    for (const place of places.get(blob['sha3-384']) ?? []) {
      const [from, to] = [Math.max(offset, at), Math.min(offset + size, at + place.size)];
      if (from < to) {
        const start = place.offset + from - at;
        yield* createReadStream(place.file, {
          start,
          end: start + to - from - 1,
          highWaterMark: 1024 * 1024,
        }) as AsyncIterable<Buffer>;
      }
      at += place.size;
    }
  };

const draftFile = ({ folder }: Collector): string => join(folder, 'gathered.json');

/** Returns the folder for unpacked archives, which is needed until the transfer is written. */
export const scratchOf = ({ folder }: Collector): string => join(folder, 'unpacked');

/** The fields of a request that a transfer for it needs. */
export type TransferRequestReference = Pick<ParsedRequest, 'id'> & {
  statement: Pick<ParsedRequest['statement'], 'site' | 'inventory'>;
};

/** Stores the gathered packages for the next transfer. */
export function saveGathered(
  collector: Collector,
  { contents, places, ...gathered }: GatheredFolder,
  answeredRequest: TransferRequestReference | undefined,
): void {
  const request = answeredRequest && {
    id: answeredRequest.id,
    site: answeredRequest.statement.site,
    inventory: answeredRequest.statement.inventory,
  };
  const draft = { ...gathered, contents: [...contents], places: [...places], request };
  prepareFile(draftFile(collector), JSON.stringify(draft), 0o600).place();
}

/** Returns the packages gathered last. Refuses if there are none. */
export function readGathered(collector: Collector): {
  gathered: GatheredFolder;
  request: TransferRequestReference | undefined;
} {
  const text = readIfPresent(draftFile(collector));
  if (text === undefined)
    throw new Refusal('resource-not-found', "No folder was gathered yet. Run 'larder transfer gather FOLDER' first.");
  const { contents, places, request, ...gathered } = JSON.parse(text) as Omit<GatheredFolder, 'contents' | 'places'> & {
    request?: { id: string } & TransferRequestReference['statement'];
    contents: [string, { content: TransferContent; mediaType: string }][];
    places: [string, GatheredRange[]][];
  };
  return {
    gathered: { ...gathered, contents: new Map(contents), places: new Map(places) },
    request: request && { id: request.id, statement: request },
  };
}

/** Deletes the stored packages after they are in a transfer. */
export const deleteGathered = (collector: Collector): void => {
  rmSync(draftFile(collector), { force: true });
};
