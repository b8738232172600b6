// Reads an unpacked transfer from a folder. Refuses changed files by name. Missing files are not an error: the person who scanned the
// folder may have removed them.
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

import type { TransferPiece } from '#contract/wire.ts';
import type { FileRange } from '#blobs/file-ranges.ts';
import { readingFailed } from '#files/tar-archive.ts';
import { listCauses } from '#platform/system-errors.ts';
import { signaturesName, statementName, type Transfer } from './members.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { pathsOf } from './paths.ts';
import { verifyBytes } from './verify-bytes.ts';
import type { OpenPart } from './open-part.ts';
import { maxSignaturesBytes, readSignatures } from '../statement/signatures.ts';
import { idOf, maxStatementBytes, readStatement } from '../statement/statement.ts';

const chunk = 1024 * 1024;
/** Do not follow links, and do not wait for pipes. */
const plain = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens files with the rights of the calling user. */
type CallerFileAccess = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface UnpackedTransfer {
  transfer: Transfer;
  /** Its parts, as if read from their archives, without the missing files. */
  parts: OpenPart[];
  /** Path of each blob in the folder. */
  paths: string[];
}

/** Returns whether a folder contains an unpacked transfer. */
export const isUnpacked = async (folder: string): Promise<boolean> =>
  (await statIfExists(join(folder, statementName)))?.isFile() === true;

/** Opens a folder. Throws `NotATransfer` with the names of files that have a wrong size or are not regular files. */
export async function openUnpacked(folder: string, asCaller: CallerFileAccess): Promise<UnpackedTransfer> {
  const { bytes, statement, signatures, lacking, paths } = await asCaller(() => looked(folder));
  const transfer = { bytes, statement, signatures };
  const signatureList = readSignatures(signatures);
  const isThere = ({ blob }: TransferPiece): boolean => !lacking.has(paths[blob]!);
  const parts = statement.parts.map((pieces, at) => ({
    ...transfer,
    file: folder,
    id: idOf(bytes),
    part: at + 1,
    signatureList,
    takenOut: [...new Set([...pieces].filter((piece) => !isThere(piece)).map(({ blob }) => paths[blob]!))],
    size: pieces
      .values()
      .filter(isThere)
      .reduce((sum, { size }) => sum + size, 0),
    async *pieces() {
      for (const piece of pieces.values().filter(isThere)) {
        const path = paths[piece.blob]!;
        const unproven = () => chunksOf(join(folder, path), asCaller, piece);
        const wrong = () => new NotATransfer(formatChanged([path]));
        const of = statement.blobs.at(piece.blob)!;
        yield {
          piece,
          of,
          at: { file: join(folder, path), offset: piece.offset },
          ranges: () => rangesOf(join(folder, path), asCaller, piece),
          unproven,
          wrong,
          bytes: () => verifyBytes(unproven(), piece, wrong),
        };
      }
    },
    close: async () => undefined,
  }));
  return { transfer, parts, paths };
}

async function looked(folder: string): Promise<Transfer & { lacking: Set<string>; paths: string[] }> {
  const bytes = await readSmallFile(folder, statementName, maxStatementBytes);
  const signatures = await readSmallFile(folder, signaturesName, maxSignaturesBytes);
  const statement = readStatement(bytes);
  const paths = pathsOf(statement);
  const lacking = new Set<string>();
  const others: string[] = [];
  for (const [at, path] of paths.entries()) {
    const stats = await statIfExists(join(folder, path));
    if (stats === undefined) lacking.add(path);
    else if (!stats.isFile() || stats.size !== statement.blobs.at(at)!.size) others.push(path);
  }
  if (others.length > 0) throw new NotATransfer(formatChanged(others));
  return { bytes, statement, signatures, lacking, paths };
}

/** Returns the message for changed files. */
export const formatChanged = (paths: readonly string[]): string =>
  `${formatNames(paths)} ${paths.length === 1 ? 'has' : 'have'} changed since the transfer was unpacked. Unpack it again, or remove the files that must not be received.`;

/** Joins names, up to a maximum, and adds the number of the others. */
export const formatNames = (names: readonly string[], maxNames = 20): string =>
  `${names.slice(0, maxNames).join(', ')}${names.length > maxNames ? ` and ${String(names.length - maxNames)} more` : ''}`;

async function readSmallFile(folder: string, name: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(join(folder, name), plain);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new NotATransfer(`It is not a transfer: ${name} is too large.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The file stays open while its range is read. */
async function* rangesOf(
  file: string,
  asCaller: CallerFileAccess,
  { offset, size }: { offset: number; size: number },
): AsyncGenerator<FileRange> {
  const handle = await asCaller(() => open(file, plain));
  try {
    yield { descriptor: handle.fd, offset, size };
  } finally {
    await handle.close();
  }
}

async function* chunksOf(
  file: string,
  asCaller: CallerFileAccess,
  { offset, size }: { offset: number; size: number },
): AsyncGenerator<Buffer> {
  const handle = await asCaller(() => open(file, plain));
  try {
    for (let at = 0; at < size;) {
      const length = Math.min(chunk, size - at);
      const into = Buffer.allocUnsafe(length);
      const { bytesRead, buffer } = await handle.read(into, 0, length, offset + at).catch((error: unknown) => {
        throw readingFailed(file, error);
      });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

async function statIfExists(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const isGone = listCauses(error).some((cause) =>
      ['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? ''),
    );
    if (isGone) return undefined;
    throw error;
  }
}
