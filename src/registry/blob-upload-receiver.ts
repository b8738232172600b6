// Receives content that is sent in several requests, and passes it to the storage as one stream. Chunks are passed on
// immediately, and the sender waits if the disk is slower.
import { lengthOf, type Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText, type Digest } from './repository.ts';

/** Size and digests of stored content. */
export interface Stored {
  size: number;
  sha3_384: string;
  sha256: string;
  sha512?: string | undefined;
}

/** Stores content as it is received; if `accept` throws, nothing is left of it. */
export type ReceiveBlob = (
  source: AsyncIterable<Chunks>,
  options: {
    id: string;
    from: string;
    limit: number;
    expected?: number | undefined;
    ownsChunks: true;
    /** The number of bytes already stored, by another process. */
    resume?: number | undefined;
    /** Called when all bytes have been received: whether the sha512 is needed as well. */
    wantsSha512: () => boolean;
    accept: (stored: Stored) => void;
  },
) => Promise<Stored>;

export interface ReceivingOptions {
  receive: ReceiveBlob;
  id: string;
  /** The sender, for its share of upload places. */
  from: string;
  /** The number of bytes that another process has already received. */
  size: number;
  /** Called when it is stored, or when nothing of it is left. */
  ended: () => void;
}

export class BlobUploadReceiver {
  /** The number of bytes received. */
  size: number;
  readonly #options: ReceivingOptions;
  readonly #pipe = createPipe();
  #storing: Promise<Stored> | undefined;
  #expected: Digest | undefined;

  constructor(options: ReceivingOptions) {
    this.#options = options;
    this.size = options.size;
  }

  async send(chunks: Chunks, limit: number, totalBytes?: number): Promise<void> {
    // Once the chunks are taken, their memory may be freed.
    const length = lengthOf(chunks);
    const stored = this.#store(limit, totalBytes);
    // The storage ended early; await its reason.
    if (!(await this.#pipe.send(chunks))) await stored;
    this.size += length;
  }

  /** Resolves when all received bytes are visible to other processes. */
  async flush(): Promise<void> {
    if (this.#storing !== undefined && !(await this.#pipe.send([]))) await this.#storing;
  }

  /** Stores the content if it has this digest; otherwise nothing is left. */
  async finish(digest: Digest, limit: number): Promise<Stored> {
    this.#expected = digest;
    const stored = this.#store(limit, 0);
    this.#pipe.end();
    return stored;
  }

  /** Discards all received bytes, in this process and in others. */
  async discard(reason: Error): Promise<void> {
    if (this.size > 0) this.#store(this.size, 0).catch(() => undefined);
    await this.breakOff(reason);
  }

  /** Interrupts it; received bytes are discarded, unless the reason is `UploadHandedOver`. */
  async breakOff(reason: Error): Promise<void> {
    this.#pipe.breakOff(reason);
    await this.#storing?.catch(() => undefined);
  }

  /** Storing begins with the first bytes. */
  #store(limit: number, totalBytes: number | undefined): Promise<Stored> {
    if (this.#storing === undefined) {
      const { receive, id, from, size, ended } = this.#options;
      this.#storing = receive(this.#pipe.content(), {
        id,
        from,
        limit,
        expected: totalBytes,
        ownsChunks: true,
        ...(size > 0 && { resume: size }),
        wantsSha512: () => this.#expected?.algorithm === 'sha512',
        accept: (stored) => requireExpectedDigest(this.#expected, stored),
      });
      // The sender, or `finish`, gets a failure; until then it must not count as an unhandled rejection. If the storage
      // refuses the content before it takes the first chunk, the pipe must be closed here.
      this.#storing.catch(() => {
        this.#pipe.leave();
        ended();
      });
    }
    return this.#storing;
  }
}

function requireExpectedDigest(expected: Digest | undefined, stored: Stored): void {
  const algorithm = expected?.algorithm ?? 'sha256';
  const digits = stored[algorithm] ?? '';
  if (digits === expected?.digits) return;
  throw new Refusal(
    'digest-invalid',
    `The received content has the digest ${digestText({ algorithm, digits })}, not the given digest.`,
  );
}

/** Passes chunks from a sender to a receiver. It holds one group of chunks, and the sender waits until it is taken. */
function createPipe() {
  let held: { chunks: Chunks; taken: PromiseWithResolvers<boolean> } | undefined;
  let waiting: PromiseWithResolvers<void> | undefined;
  let ended = false;
  let broken: Error | undefined;
  let left = false;
  const wake = (): void => {
    waiting?.resolve();
    waiting = undefined;
  };

  const leave = (): void => {
    left = true;
    held?.taken.resolve(false);
  };

  return {
    /** Returns false if the receiver has stopped. */
    async send(chunks: Chunks): Promise<boolean> {
      if (left || broken !== undefined) return false;
      const taken = Promise.withResolvers<boolean>();
      held = { chunks, taken };
      wake();
      return taken.promise;
    },
    end(): void {
      ended = true;
      wake();
    },
    /** Ends the receiver: later chunks are refused. */
    leave,
    breakOff(reason: Error): void {
      broken = reason;
      wake();
    },
    async *content(): AsyncGenerator<Chunks> {
      try {
        for (;;) {
          if (broken !== undefined) throw broken;
          if (held !== undefined) {
            yield held.chunks;
            const { taken } = held;
            held = undefined;
            taken.resolve(true);
            continue;
          }
          if (ended) return;
          waiting = Promise.withResolvers();
          await waiting.promise;
        }
      } finally {
        leave();
      }
    },
  };
}
