// Runs interleavings for a test, and prints the seed that repeats them.
import type { Test } from 'tap';

import { chooseSeed } from '../random.ts';
import { interleave } from './interleave.ts';
import type { EngineName } from './test-store.ts';

/** Runs so many interleavings with a new seed, or with LARDER_SEED. */
export async function runInterleavings(t: Test, engine: EngineName, count: number): Promise<void> {
  const seed = chooseSeed();
  const { runs, path = '', violation } = await interleave(engine, { count, seed });
  const again = `node test/histories/interleavings/interleave.ts ${engine} ${count} ${seed} ${path}`;
  t.comment(`${runs} interleavings on ${engine}: ${again}`);
  t.equal(violation, undefined, again);
}
