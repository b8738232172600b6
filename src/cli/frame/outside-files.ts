// Reads and writes files outside of the data directory, such as on a USB stick or in a home directory. Errors name the file,
// the reason and the remedy.
import { createDigest } from '#domain/cryptography.ts';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toAppendOnlyFile, syncFolder } from '#files/durable-streams.ts';
import { listCauses, describeSystemError } from '#platform/system-errors.ts';
import { Failure } from './command.ts';
import type { AsCaller } from './owner.ts';

/** Wraps a system error in one sentence that says which file could not be written; returns any other error unchanged. */
export function toWriteFailure(file: string, cause: unknown): unknown {
  const reason = describeFileError(file, cause);
  return reason === undefined ? cause : new Failure(`cannot write ${file}: ${reason}`, { code: 'cannot-write', cause });
}

/** Wraps a system error in one sentence that says which file could not be read; returns any other error unchanged. */
export function toReadFailure(file: string, cause: unknown): unknown {
  const reason = describeFileError(file, cause);
  return reason === undefined ? cause : new Failure(`cannot read ${file}: ${reason}`, { code: 'cannot-read', cause });
}

/** A system error about a file in plain words, with the path as the caller typed it; undefined for other errors. */
function describeFileError(path: string, error: unknown): string | undefined {
  if (error instanceof Failure) return undefined;
  const systemError = listCauses(error).find(
    (cause) => cause instanceof Error && /^E[A-Z0-9]+$/.test(codeOf(cause) ?? ''),
  );
  if (systemError === undefined) return undefined;
  const { code, syscall } = systemError as NodeJS.ErrnoException;
  return describeSystemError(Object.assign(new Error(), { path, code, syscall }));
}

/** Runs work that writes a file; an error of the system becomes one sentence. */
export async function withWriteErrors<Result>(file: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toWriteFailure(file, error);
  }
}

/**
 * Writes a new file durably, and removes it if it cannot be completed. Creates and finishes the file with the rights of the
 * caller, but fills it without them: the content comes from the store. Returns digest and size.
 */
export async function writeNew(
  file: string,
  asCaller: AsCaller,
  fill: (append: (piece: string | Uint8Array) => Promise<void>) => Promise<void>,
): Promise<{ sha256: string; bytes: number }> {
  return withWriteErrors(file, async () => {
    const sha256 = createDigest('content sha256');
    let bytes = 0;
    const handle = await asCaller(() => open(file, 'wx', 0o600));
    try {
      const appended = toAppendOnlyFile(handle);
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
