// Receives complete transfers from the files of a watched folder.
import { Refusal } from '#domain/refusal.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { openPart, type OpenPart } from '../parts/open-part.ts';
import { isRequest } from '../request/request-file.ts';

/** The result of handling some files. */
export interface WatchedFilesResult {
  /** Number of received transfers. */
  taken: number;
  /**
   * Files that need no further attempt unless they change. `why` is the reason of a refusal; null if the file was received or is not a
   * transfer.
   */
  files: { file: string; why: string | null }[];
  /** Internal or disk error that stopped the run. */
  fault: string | null;
}

export interface WatchedFilesOptions {
  /** Receives the parts of one complete transfer. */
  take: (parts: readonly OpenPart[]) => Promise<void>;
  signal: AbortSignal;
}

/** Maximum number of open files. Each holds a statement in memory. */
export const maxOpenFiles = 256;

/** Receives the transfers that are complete in these files. */
export async function receiveComplete(
  paths: readonly string[],
  { take, signal }: WatchedFilesOptions,
): Promise<WatchedFilesResult> {
  const open: OpenPart[] = [];
  const files: WatchedFilesResult['files'] = [];
  const settle = (file: string, reason: string | null = null): void => void files.push({ file, why: reason });
  let taken = 0;
  try {
    for (const path of paths.slice(0, maxOpenFiles)) {
      signal.throwIfAborted();
      await tried(
        async () => {
          // Requests can be on the same medium as transfers.
          if (await isRequest(path)) settle(path);
          else open.push(await openPart(path, open.at(-1)));
        },
        (reason) => {
          settle(path, reason);
        },
      );
    }
    for (const parts of Map.groupBy(open, ({ id }) => id).values()) {
      const numbers = new Set(parts.map(({ part }) => part));
      if (numbers.size < parts[0]!.statement.parts.length) continue;
      signal.throwIfAborted();
      const isTaken = await tried(
        () => take(parts),
        (reason) => {
          for (const { file } of parts) settle(file, reason);
        },
      );
      if (!isTaken) continue;
      taken++;
      for (const { file } of parts) settle(file);
    }
    return { taken, files, fault: null };
  } catch (error) {
    signal.throwIfAborted();
    return { taken, files, fault: inOneSentence(error) };
  } finally {
    await Promise.all(open.map((part) => part.close()));
  }
}

/** Runs work on a received file. Reports a fault of the file; other errors are internal and are tried again. */
async function tried(work: () => Promise<unknown>, wrong: (reason: string) => void): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof NotATransfer)) throw error;
    wrong(error.message);
    return false;
  }
}
