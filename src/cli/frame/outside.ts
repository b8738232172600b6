// Files that a command reads and writes outside of the data directory: on a stick, in somebody's home. When that does not
// work, the person is told which file, why, and what to do.
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appending, syncFolder } from '#files/streamed.ts';
import { causes, inWords } from '#src/system-errors.ts';
import { Failure } from './command.ts';
import type { AsCaller } from './owner.ts';

/** Says in a sentence that a file could not be written; what is no matter of the system stays as it is. */
export function cannotWrite(file: string, cause: unknown): unknown {
  const said = wordsFor(file, cause);
  return said === undefined ? cause : new Failure(`cannot write ${file}: ${said}`, { code: 'cannot-write', cause });
}

/** Says in a sentence that a file could not be read; what is no matter of the system stays as it is. */
export function cannotRead(file: string, cause: unknown): unknown {
  const said = wordsFor(file, cause);
  return said === undefined ? cause : new Failure(`cannot read ${file}: ${said}`, { code: 'cannot-read', cause });
}

/** What the system said of a file, in words for a person, by the name that the person knows. */
function wordsFor(path: string, error: unknown): string | undefined {
  if (error instanceof Failure) return undefined;
  const said = causes(error).find((cause) => cause instanceof Error && /^E[A-Z0-9]+$/.test(codeOf(cause) ?? ''));
  if (said === undefined) return undefined;
  const { code, syscall } = said as NodeJS.ErrnoException;
  return inWords(Object.assign(new Error(), { path, code, syscall }));
}

/** Does something that writes a file, with a sentence for whatever keeps it from that. */
export async function writing<Result>(file: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

/**
 * Writes a new file, durably; of one that cannot be filled nothing is left. It is made and finished with the rights of
 * whoever typed the command, and filled without them: what it is filled from belongs to the store. Says what is in it.
 */
export async function writeNew(
  file: string,
  asCaller: AsCaller,
  fill: (append: (piece: string | Uint8Array) => Promise<void>) => Promise<void>,
): Promise<{ sha256: string; bytes: number }> {
  return writing(file, async () => {
    const sha256 = createHash('sha256');
    let bytes = 0;
    const handle = await asCaller(() => open(file, 'wx', 0o600));
    try {
      const appended = appending(handle);
      await fill((piece) => {
        const written = typeof piece === 'string' ? Buffer.from(piece) : piece;
        sha256.update(written);
        return appended.append(written);
      });
      await appended.finish();
      bytes = appended.end;
      await handle.close();
    } catch (error) {
      await handle.close().catch(() => undefined);
      await asCaller(() => rm(file, { force: true }));
      throw error;
    }
    await asCaller(() => syncFolder(dirname(file)));
    return { sha256: sha256.digest('hex'), bytes };
  });
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
