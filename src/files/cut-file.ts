// Reads a file that is cut into several files as if it were one.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import type { ArchiveRange, ArchiveSource } from './tar-archive.ts';

/** The files of a cut file, open. */
interface CutFile extends ArchiveSource {
  /** In bytes, of all files together. */
  size: number;
  ranges(offset: number, size: number): ArchiveRange[];
}

interface CutFilePiece {
  handle: FileHandle;
  /** The position of its first byte in the whole. */
  begin: number;
  end: number;
}

/** Opens the files, in their order; closes all of them if one cannot be opened. */
export async function openCutFile(files: readonly string[]): Promise<CutFile> {
  const pieces: CutFilePiece[] = [];
  const close = async (): Promise<void> => {
    for (const { handle } of pieces) await handle.close();
  };
  try {
    for (const file of files) {
      const handle = await open(file, constants.O_RDONLY);
      const begin = pieces.at(-1)?.end ?? 0;
      const piece = { handle, begin, end: begin };
      pieces.push(piece);
      piece.end += (await handle.stat()).size;
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    size: pieces.at(-1)?.end ?? 0,
    close,
    ranges: (offset, size) => rangesOf(pieces, offset, size),
    async read(into, offset, length, position) {
      const piece = pieces.find(({ begin, end }) => position >= begin && position < end);
      if (piece === undefined) return { bytesRead: 0 };
      return piece.handle.read(into, offset, Math.min(length, piece.end - position), position - piece.begin);
    },
  };
}

function rangesOf(pieces: readonly CutFilePiece[], offset: number, size: number): ArchiveRange[] {
  const last = offset + size;
  // A range without bytes has a descriptor too, so that empty contents are received like others.
  if (size === 0) return [{ descriptor: pieces[0]!.handle.fd, offset: 0, size }];
  return pieces
    .filter(({ begin, end }) => begin < last && end > offset)
    .map(({ handle, begin, end }) => {
      const from = Math.max(offset, begin);
      return { descriptor: handle.fd, offset: from - begin, size: Math.min(last, end) - from };
    });
}
