// Reads the JSON documents of a feed: a zip or tar archive of them, or one document. The file is untrusted, so its size,
// its unpacked bytes and each document are bounded, and one document at a time is in memory.
import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { contentOf, nextEntry, openArchive } from '../charms/zip.ts';
import { utf8 } from '../icon.ts';
import { isFile, isPacked, visitLayer, type Budget } from '../images/layer.ts';
import { fileSource, type UploadBytes } from '../squashfs/source.ts';
import { plain, quoted, Unacceptable } from '../unacceptable.ts';

export interface FeedDocument {
  /** Its path in the archive; empty if the file is the document. */
  name: string;
  value: unknown;
}

/** The maximum bytes of a file. */
export const maxFeedBytes = 1 << 30;
const maxUnpackedBytes = 16 * 2 ** 30;
/** An archive that unpacks to more than `harmless` bytes may grow this many times; advisories in JSON grow thirtyfold. */
const maxGrowth = { harmless: 256 << 20, factor: 200 };
const maxDocuments = 1_000_000;
const maxDocumentBytes = 32 << 20;
/** A text of brackets and commas would take much more memory than its bytes. */
const maxSigns = 3_000_000;
/** The maximum bytes of one read of `fileSource`. */
const piece = 1 << 20;
/** Documents between two moments for messages to this thread. */
const documentsPerTurn = 64;

/** Calls `work` with each document of a feed. Throws `Unacceptable` if the file cannot be read as a feed. */
export async function forEachFeedDocument(
  path: string,
  work: (document: FeedDocument) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const file = openSync(path, 'r');
  try {
    const source = inPieces(fileSource(file));
    if (source.size > maxFeedBytes)
      throw new Unacceptable(
        `The feed has ${String(source.size)} bytes, but at most ${String(maxFeedBytes)} are read: split it by distribution.`,
      );
    let documents = 0;
    const read = async (name: string, bytes: Uint8Array): Promise<void> => {
      signal.throwIfAborted();
      if (++documents > maxDocuments)
        throw new Unacceptable(`The feed has more than ${String(maxDocuments)} documents: split it by distribution.`);
      if (documents % documentsPerTurn === 0) await setImmediate();
      await work({ name, value: parseDocument(name, bytes) });
    };
    const start = Buffer.from(source.read(0, Math.min(feedStartLength, source.size)));
    const container = containerOf(start);
    if (container === 'zip') await readZip(source, read);
    else if (container === 'json') await read('', wholeFile(source));
    else if (container === 'tar') await readTar(source, read);
    else throw noFeed();
  } finally {
    closeSync(file);
  }
}

/** The number of first bytes of a file that tell whether it can be a feed. */
export const feedStartLength = 262;

/** Refuses a file by its first bytes if it cannot be a feed. */
export function refuseNoFeed(start: Buffer): void {
  if (containerOf(start) === undefined) throw noFeed();
}

function containerOf(start: Buffer): 'zip' | 'tar' | 'json' | undefined {
  if (start.toString('latin1', 0, 2) === 'PK') return 'zip';
  if (/^\s*[{[]/.test(start.toString('latin1'))) return 'json';
  return isPacked(start) || start.toString('latin1', 257, 262) === 'ustar' ? 'tar' : undefined;
}

const noFeed = (): Unacceptable =>
  new Unacceptable('The file is no feed: it is no zip archive, no tar archive and no JSON.');

type DocumentReader = (name: string, bytes: Uint8Array) => Promise<void>;

const isJson = (name: string): boolean => /\.json$/i.test(name);

function inPieces(source: UploadBytes): UploadBytes {
  return {
    size: source.size,
    read(position, length) {
      if (length <= piece) return source.read(position, length);
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length; done += piece)
        bytes.set(source.read(position + done, Math.min(piece, length - done)), done);
      return bytes;
    },
  };
}

function wholeFile(source: UploadBytes): Uint8Array {
  requireSize('The feed', source.size);
  return source.read(0, source.size);
}

function requireSize(subject: string, size: number): void {
  if (size > maxDocumentBytes)
    throw new Unacceptable(
      `${subject} has ${String(size)} bytes of JSON, but at most ${String(maxDocumentBytes)} are read in one document.`,
    );
}

async function readZip(source: UploadBytes, read: DocumentReader): Promise<void> {
  const archive = openArchive(source, 1 << 12);
  const budget = budgetOf(source);
  for (let left = archive.entryCount; left > 0; left--) {
    const entry = nextEntry(archive);
    if (!isJson(entry.fileName)) continue;
    if (entry.isEncrypted()) throw new Unacceptable(`${quoted(entry.fileName)} in the feed is encrypted.`);
    requireSize(`${quoted(entry.fileName)} in the feed`, entry.uncompressedSize);
    budget.left -= entry.uncompressedSize;
    if (budget.left < 0) throw grows();
    await read(entry.fileName, contentOf(archive, source, entry, maxDocumentBytes));
  }
}

const budgetOf = ({ size }: UploadBytes): Budget => ({
  left: Math.min(maxUnpackedBytes, Math.max(maxGrowth.harmless, size * maxGrowth.factor)),
});

const grows = (): Unacceptable => new Unacceptable('The feed unpacks to much more than feeds do.');

async function readTar(source: UploadBytes, read: DocumentReader): Promise<void> {
  const budget = budgetOf(source);
  let problem: Error | undefined;
  const fault = await visitLayer(
    source,
    { start: 0, size: source.size },
    budget,
    async ({ type, size, name }, take) => {
      if (!isFile(type) || !isJson(name)) return undefined;
      requireSize(`${quoted(name)} in the feed`, size);
      const bytes = await take(size);
      try {
        await read(name, bytes);
        return undefined;
      } catch (error) {
        // `visitLayer` takes an error of its visitor for one of the archive.
        problem = error instanceof Error ? error : new Error(String(error));
        return 'end';
      }
    },
  );
  if (problem !== undefined) throw problem;
  if (budget.left < 0) throw grows();
  if (fault !== undefined) throw new Unacceptable(`The feed cannot be read to its end: ${plain(fault)}.`);
}

function parseDocument(name: string, bytes: Uint8Array): unknown {
  const subject = name === '' ? 'The feed' : `${quoted(name)} in the feed`;
  if (bytes.length > maxSigns && countSigns(bytes) > maxSigns)
    throw new Unacceptable(`${subject} has more than ${String(maxSigns)} members.`);
  const text = utf8(bytes);
  if (text === undefined) throw new Unacceptable(`${subject} is no text in UTF-8.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Unacceptable(`${subject} is no JSON.`);
  }
}

function countSigns(bytes: Uint8Array): number {
  let signs = 0;
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b || byte === 0x2c) signs++;
  return signs;
}
