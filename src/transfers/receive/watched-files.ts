// Receives complete transfers and feeds of advisories from the files of a watched folder.
import { Refusal } from '#domain/refusal.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { isFeed } from '#review/feeds/read-feed.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { openPart, type OpenPart } from '../parts/open-part.ts';
import { isRequest } from '../request/request-file.ts';

/** The result of handling some files. */
export interface WatchedFilesResult {
  /** Number of received transfers. */
  taken: number;
  /** Number of imported feeds. */
  feeds: number;
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
  /** Imports a feed of advisories. */
  takeFeed: (file: string) => Promise<void>;
  signal: AbortSignal;
}

/** Maximum number of open files. Each holds a statement in memory. */
export const maxOpenFiles = 256;

/** Receives the transfers that are complete in these files. */
export async function receiveComplete(
  paths: readonly string[],
  { take, takeFeed, signal }: WatchedFilesOptions,
): Promise<WatchedFilesResult> {
  const open: OpenPart[] = [];
  const files: WatchedFilesResult['files'] = [];
  const settle = (file: string, reason: string | null = null): void => void files.push({ file, why: reason });
  let [taken, feeds] = [0, 0];
  try {
    for (const path of paths.slice(0, maxOpenFiles)) {
      signal.throwIfAborted();
      await tried(
        async () => {
          const part = await openPartOrFeed(path, open.at(-1), signal);
          if (part === 'feed') {
            await takeFeed(path);
            feeds++;
          }
          if (typeof part === 'object') open.push(part);
          else settle(path);
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
    return { taken, feeds, files, fault: null };
  } catch (error) {
    signal.throwIfAborted();
    return { taken, feeds, files, fault: inOneSentence(error) };
  } finally {
    await Promise.all(open.map((part) => part.close()));
  }
}

/** Opens a part of a transfer. Returns `feed` for a feed, and `other` for a file that is neither. */
async function openPartOrFeed(
  path: string,
  before: OpenPart | undefined,
  signal: AbortSignal,
): Promise<OpenPart | 'feed' | 'other'> {
  // Requests can be on the same medium as transfers.
  if (await isRequest(path)) return 'other';
  if (!/\.tar$/i.test(path)) return (await isFeed(path, signal)) ? 'feed' : 'other';
  try {
    return await openPart(path, before);
  } catch (error) {
    if (error instanceof NotATransfer && (await isFeed(path, signal))) return 'feed';
    throw error;
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
