// Keeps the heap small for commands that process much data and keep little of it: the garbage is collected often.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of garbage in the old generation that trigger a collection, and milliseconds between two checks. */
const looked = { garbage: 16 * 1024 * 1024, every: 200 };

/** Collects the garbage if there is much; undefined until `keepHeapSmall` is called. */
let collectMuch: (() => void) | undefined;

let mayKeepSmall = false;

/** Call if this process runs one command and then ends: the settings of `keepHeapSmall` are for the whole process, and they stay. */
export function allowSmallHeap(): void {
  mayKeepSmall = true;
}

/**
 * Keeps the heap of this process small: does not let the young generation grow, and collects the old generation every 16 MiB of garbage. By
 * default V8 lets the young generation grow to 128 MiB on a host with much memory, which is half of the memory of receiving a transfer of
 * 10,000 packages. The limit costs no time (`npm run bench -- transfers`). V8 also optimizes for size, so it returns memory to the system
 * while the program is busy: accepting 10,000 snaps needs 30 MiB less and takes 10 % longer (`npm run bench -- signed-transfers`).
 * In a process that runs more than one command, such as that of many tests, it has no effect.
 *
 * @param optimizesForSize set it to false for work that keeps all processors busy and holds little memory: receiving 10,000 small snaps
 *   takes 11 % less time of the processors and 13 MiB more (`npm run bench -- signed-transfers`)
 */
export function keepHeapSmall({ optimizesForSize = true }: { optimizesForSize?: boolean } = {}): void {
  if (!mayKeepSmall || collectMuch !== undefined) return;
  setFlagsFromString('--semi-space-growth-factor=1');
  if (optimizesForSize) setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let lastUsed = used();
  collectMuch = () => {
    if (used() < lastUsed + looked.garbage) return;
    collect();
    lastUsed = used();
  };
  setInterval(collectMuch, looked.every).unref();
}

/**
 * For serving processes: turns pretenuring off, so that V8 does not put new objects into the old generation because earlier objects from
 * the same place lived long. With pretenuring, a collection of the young generation in the middle of a response makes such objects old, and
 * they stay until a full collection. A list of a thousand packages left 200 kB behind each time, and a store with many such requests took
 * 250 MB instead of 110 MB (`npm run bench -- reads`), and 1 to 3 % more time for the requests of gateways
 * (`npm run bench -- permissions`).
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Call after dropping much memory: no timer runs during synchronous work, such as that of SQLite. */
export function collectGarbage(): void {
  collectMuch?.();
}

/** Returns the memory of bytes with their own buffer now, without waiting for a garbage collection; the bytes are gone afterwards. */
export function releaseBuffer({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}

const used = (): number => getHeapStatistics().used_heap_size;
