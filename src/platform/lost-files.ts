// Finds out that a serving process cannot continue: its lock or its database was removed or replaced, or it can open no files any more.
// Locks belong to the file that was opened, not to its name, so another process could then serve the same data.
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { seconds } from '#domain/clock.ts';
import { inOneSentence, isFailingDisk, isOutOfFiles } from './system-errors.ts';

export interface LostFilesOptions {
  /** Names of the files in the data directory that this process holds open. */
  names: readonly string[];
  /** Called once with the reason. The process must end. */
  fatal: (error: Error) => void;
}

const intervalMs = seconds(2);

/** Without free descriptors for a minute the process ends; a shorter shortage passes by itself. */
const maxFailures = 30;

/** Looks at the files of a data directory at an interval until `stop`. */
export function watchLostFiles(directory: string, { names, fatal }: LostFilesOptions): { stop(): void } {
  const identities = new Map(names.map((name) => [name, identify(join(directory, name))]));
  let failures = 0;
  const findReason = (): string | undefined => {
    for (const [name, identity] of identities) {
      const reason = findLoss(join(directory, name), identity);
      if (reason !== undefined) return reason;
    }
    const shortage = findShortage(directory);
    failures = shortage === undefined ? 0 : failures + 1;
    return failures < maxFailures ? undefined : `no file could be opened for a minute: ${shortage}`;
  };
  const timer = setInterval(() => {
    const reason = findReason();
    if (reason === undefined) return;
    clearInterval(timer);
    fatal(new Error(reason));
  }, intervalMs).unref();
  return {
    stop() {
      clearInterval(timer);
    },
  };
}

/** Device and inode. The file must not be opened: closing it would release the locks of this process on it. */
function identify(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && `${String(file.dev)}:${String(file.ino)}`;
}

function findLoss(path: string, identity: string | undefined): string | undefined {
  try {
    if (identify(path) === identity) return undefined;
    return `${path} was removed or replaced while it was in use, so changes could be lost; put the right file there, and serve the store again`;
  } catch (error) {
    return isFailingDisk(codeOf(error)) ? `the lock on ${path} is lost: ${inOneSentence(error)}` : undefined;
  }
}

function findShortage(directory: string): string | undefined {
  try {
    closeSync(openSync(directory, 'r'));
    return undefined;
  } catch (error) {
    return isOutOfFiles(error) ? inOneSentence(error) : undefined;
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
