// Limits the memory of content on its way to the server: a few parts of large content at a time, or many small
// contents. Waiting callers are served in order, until their signal aborts.

interface QueuedSender {
  bytes: number;
  start: () => void;
}

export class SendMemory {
  #free: number;
  readonly #waiting: QueuedSender[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Runs `work` when `bytes` of memory are free; throws the reason of the signal if that aborts first. */
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
    const waiting: QueuedSender = { bytes, start: () => turn.resolve(undefined) };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      turn.reject(signal.reason as Error);
      // The caller that left may have blocked the queue.
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
