// Measures how fast an upload moves, and whether it is so slow that it may be ended.
import { seconds } from '#domain/clock.ts';

/** An upload that moves fewer bytes in this time loses its place when another sender waits for one. */
export const minPace = { bytes: 10 * 1024, milliseconds: seconds(10) };

/** If the store itself delayed an upload for this long, its speed in that time does not count. */
const ownDelayMs = seconds(1);

export type Pace = ReturnType<typeof createPace>;

/** Counts the bytes that an upload moved per second. `elapsed` is a monotonic clock in milliseconds. */
export function createPace(elapsed: () => number) {
  const slots: { second: number; bytes: number }[] = [];
  let judgedSince = elapsed();
  let gotAt = elapsed();
  let isWaiting = false;
  const secondOf = (moment: number): number => Math.floor(moment / seconds(1));

  return {
    /** The store now waits for the sender. */
    waits() {
      const moment = elapsed();
      if (moment - gotAt > ownDelayMs) judgedSince = moment;
      isWaiting = true;
    },
    got(bytes: number) {
      gotAt = elapsed();
      isWaiting = false;
      const second = secondOf(gotAt);
      const last = slots.at(-1);
      if (last?.second === second) last.bytes += bytes;
      else slots.push({ second, bytes });
      if (slots.length > secondOf(minPace.milliseconds) + 1) slots.shift();
    },
    /** Bytes within the measured time. */
    moved(): number {
      const from = secondOf(elapsed() - minPace.milliseconds);
      return slots.filter(({ second }) => second >= from).reduce((sum, { bytes }) => sum + bytes, 0);
    },
    isSlow(): boolean {
      return isWaiting && elapsed() - judgedSince >= minPace.milliseconds && this.moved() < minPace.bytes;
    },
  };
}
