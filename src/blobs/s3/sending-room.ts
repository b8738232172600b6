// Room for what is on its way to the server, of which each takes what it needs in memory: a few parts of large content at a time, or
// many small contents. Whoever waits for room comes in turn, and waits no longer than his signal lets him.

interface Waiting {
  bytes: number;
  start: () => void;
}

export class SendingRoom {
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Does the work when there is room for so many bytes; throws the reason of the signal where that comes first. */
  async lend<Result>(bytes: number, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(bytes, signal);
    try {
      return await work();
    } finally {
      this.#free += bytes;
      this.#admit();
    }
  }

  async #take(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<undefined>();
    const waiting: Waiting = { bytes, start: () => turn.resolve(undefined) };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      turn.reject(signal.reason as Error);
      // He may have been the one for whom there was not enough.
      this.#admit();
    };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#admit();
    await turn.promise.finally(() => {
      signal.removeEventListener('abort', leave);
    });
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#free -= next.bytes;
      this.#waiting.shift();
      next.start();
    }
  }
}
