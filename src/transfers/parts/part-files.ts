// Writes the files of a transfer's parts under temporary names and renames them when all are complete.
import { createDigest } from '#domain/cryptography.ts';
import { basename, dirname, extname, join } from 'node:path';

import { Refusal } from '#domain/refusal.ts';
import { toAppendOnlyFile, onDisk, syncFolder, type Files } from '#files/durable-streams.ts';
import { StatementFileIndex } from './artifacts.ts';
import { membersOf, type Transfer } from './members.ts';
import type { OpenPart } from './open-part.ts';
import { generatePartBytes, type TransferContentReader } from './part-bytes.ts';

export interface PartWriteOptions {
  content: TransferContentReader;
  /** Runs file operations with the rights of the calling user. */
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Aborts the work and removes all of its files. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
  files?: Files;
}

/** Returns the file name of a part: `depot-7.tar`, or `depot-7.2of3.tar`. */
export function partFile(file: string, part: number, of: number): string {
  if (of === 1) return file;
  const ending = extname(file);
  return join(dirname(file), `${basename(file, ending)}.${String(part)}of${String(of)}${ending}`);
}

export interface WrittenParts {
  bytes: number;
  /** The written files in order. */
  files: { part: number; sha256: string; bytes: number }[];
  /** Gives the files their final names, durably. */
  place(): Promise<void>;
  discard(): Promise<void>;
}

/** Writes parts under temporary names in the target folder. */
export async function writeParts(
  transfer: Transfer,
  parts: readonly number[],
  files: readonly string[],
  { asCaller, content, signal, progress, files: disk = onDisk }: PartWriteOptions,
): Promise<WrittenParts> {
  const partials = files.map((file) => join(dirname(file), `.${basename(file)}.partial`));
  const discard = (): Promise<void> =>
    asCaller(async () => {
      for (const partial of partials) await disk.rm(partial, { force: true });
    });
  const contained = new StatementFileIndex(transfer.statement);
  const members = parts.map((part) => membersOf(transfer, part, contained));
  const bytes = members.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const written: WrittenParts['files'] = [];
  try {
    for (const [at, some] of members.entries()) {
      const handle = await asCaller(async () => {
        await disk.rm(partials[at]!, { force: true });
        return disk.open(partials[at]!, 'wx', 0o644);
      });
      try {
        const file = toAppendOnlyFile(handle, { sendOn: true });
        const digest = createDigest('content sha256');
        for await (const piece of generatePartBytes(transfer, some, content)) {
          signal.throwIfAborted();
          await file.append(piece);
          digest.update(piece);
          progress('writing', (done += piece.length), bytes);
        }
        await file.finish();
        // The umask limits the mode given to open. The receiving store may read the file as another user.
        await asCaller(async () => handle.chmod(0o644).catch(() => undefined));
        written.push({ part: parts[at]!, sha256: digest.digest('hex'), bytes: some.size });
      } finally {
        await handle.close();
      }
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    bytes,
    files: written,
    discard,
    place: () =>
      asCaller(async () => {
        for (const [at, file] of files.entries()) await disk.rename(partials[at]!, file);
        for (const folder of new Set(files.map(dirname))) await syncFolder(folder, disk);
      }),
  };
}

/** Returns the first part. Refuses parts of different transfers. */
export function oneTransfer(parts: readonly OpenPart[]): OpenPart {
  const [first] = parts;
  if (first === undefined) throw new Refusal('api-error', 'No part of a transfer was named.');
  const strange = parts.find(({ id }) => id !== first.id);
  if (strange === undefined) return first;
  throw new Refusal(
    'conflict',
    `${first.file} and ${strange.file} are parts of different transfers. Name the parts of one transfer at a time.`,
  );
}
