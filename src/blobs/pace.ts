// How fast an upload moves, and whether that is so slow that its sender may be sent away.
import { seconds } from '#domain/clock.ts';

/** Who moves less than so many bytes in so many milliseconds, gives his place up where somebody waits for it. */
export const least = { bytes: 10 * 1024, milliseconds: seconds(10) };

/** When the store itself made an upload wait for so long, what it moved meanwhile says nothing of its sender. */
const ownDelay = seconds(1);

export type Pace = ReturnType<typeof createPace>;

/** How much an upload has moved of late, second by second; `elapsed` is a clock that nobody sets, in milliseconds. */
export function createPace(elapsed: () => number) {
  const slots: { second: number; bytes: number }[] = [];
  let judgedSince = elapsed();
  let gotAt = elapsed();
  let isWaiting = false;
  const secondOf = (moment: number): number => Math.floor(moment / seconds(1));

  return {
    /** Its sender is waited for. */
    waits() {
      const moment = elapsed();
      if (moment - gotAt > ownDelay) judgedSince = moment;
      isWaiting = true;
    },
    got(bytes: number) {
      gotAt = elapsed();
      isWaiting = false;
      const second = secondOf(gotAt);
      const last = slots.at(-1);
      if (last?.second === second) last.bytes += bytes;
      else slots.push({ second, bytes });
      if (slots.length > secondOf(least.milliseconds) + 1) slots.shift();
    },
    /** Bytes within the time that counts. */
    moved(): number {
      const from = secondOf(elapsed() - least.milliseconds);
      return slots.filter(({ second }) => second >= from).reduce((sum, { bytes }) => sum + bytes, 0);
    },
    isSlow(): boolean {
      return isWaiting && elapsed() - judgedSince >= least.milliseconds && this.moved() < least.bytes;
    },
  };
}
