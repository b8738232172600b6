// What lies in a watched folder is taken in, as far as it is there as a whole.
import { Refusal } from '#domain/refusal.ts';
import { inOneSentence } from '#src/system-errors.ts';
import { NotATransfer } from './form/not-a-transfer.ts';
import { openPart, type OpenPart } from './form/read.ts';
import { isRequest } from './request/form.ts';

/** What was made of some files. */
export interface TakenFiles {
  /** How many transfers were taken in. */
  taken: number;
  /** Of those that need not be looked at again as they are, why not: nothing where they came in, or are no transfers. */
  files: { file: string; why: string | null }[];
  /** What kept it from going on, through our own fault or the disk's. */
  fault: string | null;
}

export interface Taking {
  /** Takes in the parts of one transfer, all of which are there. */
  take: (parts: readonly OpenPart[]) => Promise<void>;
  signal: AbortSignal;
}

/** So many are open at a time: each holds a statement. */
export const mostOpen = 256;

/** Takes in the transfers of which these files are all parts. */
export async function takeWhole(paths: readonly string[], { take, signal }: Taking): Promise<TakenFiles> {
  const open: OpenPart[] = [];
  const files: TakenFiles['files'] = [];
  const settle = (file: string, why: string | null = null): void => void files.push({ file, why });
  let taken = 0;
  try {
    for (const path of paths.slice(0, mostOpen)) {
      signal.throwIfAborted();
      await tried(
        async () => {
          // It lies on the same stick as the transfers that answer it.
          if (await isRequest(path)) settle(path);
          else open.push(await openPart(path, open.at(-1)));
        },
        (why) => {
          settle(path, why);
        },
      );
    }
    for (const parts of Map.groupBy(open, ({ id }) => id).values()) {
      const numbers = new Set(parts.map(({ part }) => part));
      if (numbers.size < parts[0]!.statement.parts.length) continue;
      signal.throwIfAborted();
      const isTaken = await tried(
        () => take(parts),
        (why) => {
          for (const { file } of parts) settle(file, why);
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

/** Does something with a file of others: what is wrong with the file is told; anything else is our fault, and is tried again. */
async function tried(work: () => Promise<unknown>, wrong: (why: string) => void): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof NotATransfer)) throw error;
    wrong(error.message);
    return false;
  }
}
