// Seeds defects for a test, one after the other, and demands that interleavings find each of them.
import type { Test } from 'tap';

import { defects, SourceCopy, type SeededDefect } from './defects.ts';
import { chooseSeed } from './random.ts';

/** Many times as many as the rarest defect takes until it is found, the early removal of a blob: some hundreds. */
const maxInterleavings = 20_000;

export async function findDefects(t: Test, engine: SeededDefect['engine']): Promise<void> {
  const copy = new SourceCopy();
  t.teardown(() => copy.remove());
  for (const defect of defects.filter((each) => each.engine === engine)) {
    const seed = chooseSeed();
    copy.patch(defect);
    const { isGood, output } = await copy.interleave(engine, maxInterleavings, seed);
    copy.restore(defect);
    t.notOk(isGood, `${defect.name}: found with the seed ${seed}`);
    t.match(output, defect.finds);
  }
  const { isGood, output } = await copy.interleave(engine, 50, chooseSeed());
  t.ok(isGood, `the copy without defects is good: ${output}`);
}
