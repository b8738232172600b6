// What is known of files that were read whole and had their digest: as long as a file has not been touched since, and it
// is not too long ago, a part of it is served without reading all of it again. What turns over on the disk meanwhile,
// without anybody touching the file, is found by the scrub.
import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';

import { BoundedMap } from '#domain/bounded-map.ts';
import { hours, type Now } from '#domain/clock.ts';
import type { DigestPool } from './digests.ts';
import { identityIn } from './identity.ts';

export interface Proofs {
  /** Remembers a file whose bytes were just digested, and which has just been moved there. */
  remember(sha3_384: string, file: string): void;
  /** The same of one that was looked at when it had been moved, by what `identityIn` says of it. */
  rememberAs(sha3_384: string, identity: string): void;
  /** Whether the file is as it was when it had its digest. */
  holds(sha3_384: string, file: string): Promise<boolean>;
  /** The same; a file of which that is not known is read for it. */
  prove(sha3_384: string, file: string): Promise<boolean>;
}

const goodFor = hours(24);
const remembered = 10_000;

export function createProofs(digests: DigestPool, now: Now): Proofs {
  const known = new BoundedMap<string, { identity: string; until: number }>(remembered);
  /** Readers of one file wait for one reading. */
  const proving = new Map<string, Promise<boolean>>();

  const keep = (sha3_384: string, identity: string): void => {
    known.set(sha3_384, { identity, until: now().getTime() + goodFor });
  };

  async function holds(sha3_384: string, file: string): Promise<boolean> {
    const found = known.get(sha3_384);
    return found !== undefined && now().getTime() < found.until && found.identity === (await identityOf(file));
  }

  async function readWhole(sha3_384: string, file: string): Promise<boolean> {
    const before = await identityOf(file);
    const { 'sha3-384': found } = await digests.ofFile(file, ['sha3-384']);
    const good = found === sha3_384;
    // What came in anew while this was read is good as well, but it was not what was read.
    if (good && before !== undefined && before === (await identityOf(file))) keep(sha3_384, before);
    return good;
  }

  return {
    holds,
    rememberAs: keep,
    remember(sha3_384, file) {
      // What was just moved is looked at without a disk, in less time than it takes to ask another thread for it.
      const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
      if (found !== undefined) keep(sha3_384, identityIn(found));
    },
    async prove(sha3_384, file) {
      if (await holds(sha3_384, file)) return true;
      const reading = proving.get(sha3_384) ?? readWhole(sha3_384, file).finally(() => proving.delete(sha3_384));
      proving.set(sha3_384, reading);
      return reading;
    },
  };
}

/** What changes with every write to a file; undefined when it is not there. */
async function identityOf(file: string): Promise<string | undefined> {
  try {
    return identityIn(await lstat(file, { bigint: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
