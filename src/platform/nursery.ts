// Keeps V8's young generation small while a process moves much content for few requests.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The young generation always grows to this many bytes in both halves; its last growth can double them. */
const quietSize = 4 * 1024 * 1024;
/** From this many responses per second on it grows as V8 wishes: a small one costs each of many requests a tenth. */
const busyRate = 200;
const windowMs = 1000;

let answeredCount = 0;

/** Counts a finished request. */
export function noteAnswered(): void {
  answeredCount += 1;
}

/**
 * Limits the growth of the young generation while fewer than `busyRate` requests per second are answered. The promises of a hundred
 * downloads survive each collection, so V8 lets it grow to 64 MiB on a host with much memory. The downloads cost the same with 8 MiB, and
 * the peak of the process falls by 60 MiB (`npm run bench -- memory`). V8 reads the factor at each growth, its maximum only at the start.
 * The factor is a setting of the whole process, so worker threads grow little at the same time.
 */
export function limitNursery(): { stop(): void } {
  let [grows, isBusy] = [true, false];
  let window = { began: performance.now(), answeredCount };
  const setGrowth = (next: boolean): void => {
    if (next === grows) return;
    grows = next;
    setFlagsFromString(`--semi-space-growth-factor=${next ? 2 : 1}`);
  };
  const observer = new PerformanceObserver(() => {
    const now = performance.now();
    const elapsed = now - window.began;
    if (elapsed >= windowMs) {
      isBusy = ((answeredCount - window.answeredCount) / elapsed) * 1000 >= busyRate;
      window = { began: now, answeredCount };
    }
    setGrowth(isBusy || youngSize() < quietSize);
  });
  observer.observe({ entryTypes: ['gc'] });
  return {
    stop() {
      observer.disconnect();
      setGrowth(true);
    },
  };
}

const youngSize = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
