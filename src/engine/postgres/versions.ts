// The number of the last commit of all, never older than the question: one query serves everybody who asked before it was
// sent. Whoever asks while one is under way waits for the next one, so under load the cost is shared by ever more.
import { isAway } from '#domain/refusal.ts';

export class Versions {
  readonly #read: () => Promise<number>;
  /** The query that is sent when the one under way is answered. */
  #next: Promise<number> | undefined;
  /** The query under way. */
  #sent: Promise<number> | undefined;

  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  current(): Promise<number> {
    this.#next ??= this.#sendNext(this.#sent);
    return this.#next;
  }

  async #sendNext(before: Promise<number> | undefined): Promise<number> {
    try {
      await before;
    } catch (error) {
      // A server that has not answered is not tried again for the callers that waited: they would hear of it after twice the time.
      if (isAway(error)) {
        this.#next = undefined;
        throw error;
      }
    }
    // From here on it may be older than a question.
    this.#next = undefined;
    const reading = this.#read();
    this.#sent = reading;
    try {
      return await reading;
    } finally {
      // The next caller does not hear of a query that has ended before it asked.
      if (this.#sent === reading) this.#sent = undefined;
    }
  }
}
