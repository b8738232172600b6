// Reads the number of the last commit of all processes, never older than the call. One query serves all calls that came before it was sent;
// calls that come while it runs wait for the next one. So under load more calls share each query.
import { isEngineUnavailable } from '#domain/refusal.ts';

export class Versions {
  readonly #read: () => Promise<number>;
  /** The query to send when the running one has ended. */
  #next: Promise<number> | undefined;
  /** The running query. */
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
      // If the server did not answer, the waiting callers fail as well: a second attempt would double their wait.
      if (isEngineUnavailable(error)) {
        this.#next = undefined;
        throw error;
      }
    }
    // From here on its result may be older than a new call.
    this.#next = undefined;
    const reading = this.#read();
    this.#sent = reading;
    try {
      return await reading;
    } finally {
      // Let later callers not wait for, or fail with, a query that has ended.
      if (this.#sent === reading) this.#sent = undefined;
    }
  }
}
