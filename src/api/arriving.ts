// Bytes on their way from a request to whoever takes them. They are gathered, and handed over many at a time, so that
// taking in a large body costs little more than reading it does.
import type { IncomingMessage } from 'node:http';

import type { Chunks } from '#blobs/blobs.ts';

/**
 * When so many bytes, or chunks, wait to be taken, their sender waits too. Where `together` bytes of all senders wait,
 * each of them is let go on with one chunk after the other.
 */
const most = { bytes: 1024 * 1024, chunks: 256, together: 32 * 1024 * 1024 };
/** So much is handed over at once; less only after so many milliseconds. */
const much = { bytes: most.bytes / 2, patience: 10 };

export class Arriving {
  /** Bytes of all senders that wait to be taken. */
  static #together = 0;
  readonly #request: IncomingMessage;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #waiting: { resolve: () => void; clock: NodeJS.Timeout } | undefined;
  #ended = false;
  #failure: { error: unknown } | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /** Whether the sender waits for us. */
  get isFull(): boolean {
    if (this.#length >= most.bytes || this.#chunks.length >= most.chunks) return true;
    return Arriving.#together >= most.together && this.#length > 0;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    Arriving.#together += chunk.length;
    const { isFull } = this;
    if (isFull) this.#request.pause();
    if (isFull || this.#length >= much.bytes) this.#wake();
  }

  /** Nothing more comes. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Nothing more comes, for this reason; what nobody has taken is dropped. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#clear();
    this.#wake();
  }

  /** All that comes; only one may take it. */
  async *content(): AsyncGenerator<Chunks, void> {
    for (;;) {
      if (!this.#ended && this.#failure === undefined && !this.isFull && this.#length < much.bytes) await this.#more();
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#chunks.length > 0) yield this.#take();
      else if (this.#ended) return;
    }
  }

  /** Resolves when much has come, when it has ended, or after a while. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { resolve, clock: setTimeout(() => this.#wake(), much.patience) };
    });
  }

  #wake(): void {
    if (this.#waiting === undefined) return;
    clearTimeout(this.#waiting.clock);
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  #take(): Chunks {
    const taken = this.#chunks;
    const wasFull = this.#request.isPaused();
    this.#clear();
    if (wasFull) this.#request.resume();
    return taken;
  }

  #clear(): void {
    Arriving.#together -= this.#length;
    this.#chunks = [];
    this.#length = 0;
  }
}
