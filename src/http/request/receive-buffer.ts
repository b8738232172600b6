// Buffers the bytes of a request until the consumer takes them. Handing over many chunks at a time makes receiving a large body cost little
// more than reading it.
import type { IncomingMessage } from 'node:http';

import type { Chunks } from '#blobs/blobs.ts';

/**
 * The sender is paused when this many bytes or chunks are buffered. When all senders together have `together` bytes buffered, each is
 * resumed for one chunk at a time.
 */
const maxBuffered = { bytes: 1024 * 1024, chunks: 256, together: 32 * 1024 * 1024 };
/** The consumer gets this many bytes at a time; fewer only after `maxWaitMs`. */
const chunkTarget = { bytes: maxBuffered.bytes / 2, maxWaitMs: 10 };

export class ReceiveBuffer {
  /** Buffered bytes of all senders. */
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

  /** Whether the sender is paused because the buffer is full. */
  get isFull(): boolean {
    if (this.#length >= maxBuffered.bytes || this.#chunks.length >= maxBuffered.chunks) return true;
    return ReceiveBuffer.#together >= maxBuffered.together && this.#length > 0;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    ReceiveBuffer.#together += chunk.length;
    const { isFull } = this;
    if (isFull) this.#request.pause();
    if (isFull || this.#length >= chunkTarget.bytes) this.#wake();
  }

  /** Marks the end of the content. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Ends the content with this error; drops the buffered bytes. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#clear();
    this.#wake();
  }

  /** The content; only one consumer may read it. */
  async *content(): AsyncGenerator<Chunks, void> {
    for (;;) {
      if (!this.#ended && this.#failure === undefined && !this.isFull && this.#length < chunkTarget.bytes)
        await this.#more();
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#chunks.length > 0) yield this.#take();
      else if (this.#ended) return;
    }
  }

  /** Resolves when enough bytes are buffered, at the end, or after the timeout. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { resolve, clock: setTimeout(() => this.#wake(), chunkTarget.maxWaitMs) };
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
    ReceiveBuffer.#together -= this.#length;
    this.#chunks = [];
    this.#length = 0;
  }
}
