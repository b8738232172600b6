// Remembers which files were read completely and matched their digest: if a file has not changed since, and that was
// less than 24 hours ago, a range is served without reading the whole file again. The scrub finds bit rot in files that
// were not touched.
import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';

import { BoundedMap } from '#domain/bounded-map.ts';
import { hours, type Now } from '#domain/clock.ts';
import type { DigestPool } from './digests.ts';
import { identityIn } from './file-identity.ts';

export interface Proofs {
  /** Remembers a file that was just digested and moved there. */
  remember(sha3_384: string, file: string): void;
  /** Like `remember`, with the result of `identityIn` after the move. */
  rememberAs(sha3_384: string, identity: string): void;
  /** Whether the file is unchanged since it matched its digest. */
  holds(sha3_384: string, file: string): Promise<boolean>;
  /** Like `holds`, but reads the file if it is not known to be unchanged. */
  prove(sha3_384: string, file: string): Promise<boolean>;
}

const validForMs = hours(24);
const maxFiles = 10_000;

export function createProofs(digests: DigestPool, now: Now): Proofs {
  const verifiedFiles = new BoundedMap<string, { identity: string; until: number }>(maxFiles);
  /** Concurrent readers of one file wait for one verification. */
  const proving = new Map<string, Promise<boolean>>();

  const keep = (sha3_384: string, identity: string): void => {
    verifiedFiles.set(sha3_384, { identity, until: now().getTime() + validForMs });
  };

  async function holds(sha3_384: string, file: string): Promise<boolean> {
    const entry = verifiedFiles.get(sha3_384);
    return entry !== undefined && now().getTime() < entry.until && entry.identity === (await identityOf(file));
  }

  async function readWhole(sha3_384: string, file: string): Promise<boolean> {
    const before = await identityOf(file);
    const { 'sha3-384': digest } = await digests.ofFile(file, ['sha3-384']);
    const good = digest === sha3_384;
    // Content that was replaced while this was read is valid as well, but it is not the content that was verified.
    if (good && before !== undefined && before === (await identityOf(file))) keep(sha3_384, before);
    return good;
  }

  return {
    holds,
    rememberAs: keep,
    remember(sha3_384, file) {
      // The metadata of a file that was just moved is in memory: a synchronous call takes less time than a thread does.
      const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) keep(sha3_384, identityIn(stats));
    },
    async prove(sha3_384, file) {
      if (await holds(sha3_384, file)) return true;
      const reading = proving.get(sha3_384) ?? readWhole(sha3_384, file).finally(() => proving.delete(sha3_384));
      proving.set(sha3_384, reading);
      return reading;
    },
  };
}

/** Text that changes with every write to a file; undefined if the file does not exist. */
async function identityOf(file: string): Promise<string | undefined> {
  try {
    return identityIn(await lstat(file, { bigint: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
