// A command that goes through much and keeps little: garbage is collected often, in little memory, rather than seldom in much.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** So much garbage may lie in the old generation, and so many milliseconds go by between two looks at it. */
const looked = { garbage: 16 * 1024 * 1024, every: 200 };

/** Collects what is garbage, where that is much; nothing as long as nobody has asked for a small heap. */
let collectMuch: (() => void) | undefined;

/**
 * From here on the young generation of the heap stays as it is, and the old one is collected before it has grown by much. V8 lets
 * the first grow to 128 MiB on a host with much memory, for programs that serve for long, and the second to more; of a transfer of
 * 10,000 packages that is half of what it takes to receive it, and no time is lost (`npm run bench -- transfers`). Optimized for
 * size, V8 gives back what it has collected, also while nothing is waited for: to let in 10,000 snaps with their assertions takes
 * 30 MiB less, and a tenth more time (`npm run bench -- signed-transfers`).
 */
export function keepHeapSmall(): void {
  // A thread has bounds of its own, and V8 knows this for the whole process alone.
  if (!isMainThread || collectMuch !== undefined) return;
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let kept = used();
  collectMuch = () => {
    if (used() < kept + looked.garbage) return;
    collect();
    kept = used();
  };
  setInterval(collectMuch, looked.every).unref();
}

/**
 * For whoever serves: no object is made old at once because others that were made at the same place have lived long. What an answer is made of is
 * old then for V8 whenever the young generation was collected in the midst of one, and stays until all is collected: a list of a thousand
 * packages left 200 kB behind each time, and a store that was asked for it often took 250 MB instead of 110 (`npm run bench -- reads`), and 1 to 3 %
 * more time for what gateways ask (`npm run bench -- permissions`).
 */
export function makeNothingOld(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** For whoever is done with much of what it has made: no timer runs while work goes on that waits for nothing, as SQLite is. */
export function letGo(): void {
  collectMuch?.();
}

/** Gives back the memory of bytes that have a buffer of their own, now and not when garbage is collected: there are none any more. */
export function giveBack({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}

const used = (): number => getHeapStatistics().used_heap_size;
