// Notifications from another registry about pushed images. A notification follows a moment after the push, perhaps to
// another process of the store, so a request for an image may have to wait for it.
import { createChangeWaiter } from '#shared/change-waiter.ts';

export interface ImageNotifications {
  /** Reports that this image now exists. */
  tell(key: string): void;
  /** Returns the result of `find` as soon as it finds something; undefined after `timeoutMs` milliseconds. */
  wait<Found>(key: string, find: () => Promise<Found | undefined>, timeoutMs: number): Promise<Found | undefined>;
}

/** Beyond this number, requests do not wait. */
const maxWaiting = 256;

export function createImageNotifications(): ImageNotifications {
  const waiting = createChangeWaiter();
  let count = 0;

  return {
    tell(key) {
      waiting.tell(key);
    },

    async wait(key, find, timeoutMs) {
      if (count >= maxWaiting) return find();
      count++;
      try {
        return await waiting.until(key, find, { timeoutMs });
      } finally {
        count--;
      }
    },
  };
}
