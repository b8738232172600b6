// Runs interleavings, and prints the first violation with the seed that repeats it:
//   node test/histories/interleavings/interleave.ts sqlite|postgres COUNT [SEED [PATH]]
import fc from 'fast-check';

import { plans, runInterleaving } from './interleaving.ts';
import { openPlace, type EngineName, type TestStore } from './test-store.ts';

/** Interleavings on one store: later ones would be slower. */
const maxPerStore = 400;

export interface InterleavingResult {
  runs: number;
  seed: number;
  /** Repeats the failure with its seed. */
  path?: string;
  violation?: string;
}

export async function interleave(
  engine: EngineName,
  { count, seed, path }: { count: number; seed: number; path?: string | undefined },
): Promise<InterleavingResult> {
  const place = await openPlace(engine);
  let [store, used]: [TestStore | undefined, number] = [undefined, 0];
  const property = fc.asyncProperty(plans, fc.scheduler(), async (plan, scheduler) => {
    if (store === undefined || ++used % maxPerStore === 0) {
      await store?.close();
      store = await place.newStore();
    }
    const violations = await runInterleaving(store, scheduler, plan);
    if (violations.length > 0) throw new Error(violations.join('\n'));
  });
  try {
    const details = await fc.check(property, { numRuns: count, seed, ...(path && { path }), endOnFailure: true });
    const { failed, numRuns, counterexamplePath, errorInstance } = details;
    if (!failed) return { runs: numRuns, seed };
    const violation = errorInstance instanceof Error ? (errorInstance.stack ?? '') : String(errorInstance);
    return { runs: numRuns, seed, path: counterexamplePath ?? '', violation };
  } finally {
    await (store as TestStore | undefined)?.close();
    await place.end();
  }
}

if (process.argv[1] === import.meta.filename) {
  const [engine = 'sqlite', count = '1000', seed, path] = process.argv.slice(2);
  const how = { count: Number(count), seed: Number(seed ?? Math.floor(Math.random() * 2 ** 31)), path };
  const { runs, violation, ...repeat } = await interleave(engine as EngineName, how);
  const [isGood, again] = [violation === undefined, `${repeat.seed} ${repeat.path ?? ''}`];
  console.log(isGood ? `${runs} interleavings, seed ${repeat.seed}` : `${violation}\n\nrepeat with: ${again}`);
  process.exitCode = isGood ? 0 : 1;
}
