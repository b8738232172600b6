// Notifications from another registry about pushed images. A notification follows a moment after the push, perhaps to
// another process of the store, so a request for an image may have to wait for it.
import { createWaiting } from '#shared/waiting.ts';

export interface News {
  /** Reports that this image now exists. */
  tell(what: string): void;
  /** Returns the result of `look` as soon as it finds something; undefined after `patience` milliseconds. */
  wait<Found>(what: string, look: () => Promise<Found | undefined>, patience: number): Promise<Found | undefined>;
}

/** Beyond this number, requests do not wait. */
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
