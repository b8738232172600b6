// What another registry tells of: images that were pushed. Its word comes a moment after the push, perhaps to another
// process of the store, so whoever asks for an image may have to wait for it.
import { createWaiting } from '#shared/waiting.ts';

export interface News {
  /** Says that this is there now. */
  tell(what: string): void;
  /** What `look` finds, as soon as it finds anything; nothing when so many milliseconds have gone by. */
  wait<Found>(what: string, look: () => Promise<Found | undefined>, patience: number): Promise<Found | undefined>;
}

/** Beyond this, nobody is made to wait. */
const waitingAtOnce = 256;

export function createNews(): News {
  const waiting = createWaiting();
  let count = 0;

  return {
    tell(what) {
      waiting.tell(what);
    },

    async wait(what, look, patience) {
      if (count >= waitingAtOnce) return look();
      count++;
      try {
        return await waiting.until(what, look, { patience });
      } finally {
        count--;
      }
    },
  };
}
