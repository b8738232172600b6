// Content that comes in several requests, handed to whoever stores it as one stream. All that arrives goes on at once, and
// its sender waits when the disk is slower.
import { lengthOf, type Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText, type Digest } from './repository.ts';

/** What is known of content that was stored. */
export interface Stored {
  size: number;
  sha3_384: string;
  sha256: string;
  sha512?: string | undefined;
}

/** Stores content as it comes in; nothing is left of what `accept` refuses by throwing. */
export type Receive = (
  source: AsyncIterable<Chunks>,
  options: {
    id: string;
    from: string;
    limit: number;
    expected?: number | undefined;
    ownsChunks: true;
    /** How many bytes of it lie there already, from another process. */
    resume?: number | undefined;
    /** Asked when all has come: whether the sha512 is wanted as well. */
    wantsSha512: () => boolean;
    accept: (stored: Stored) => void;
  },
) => Promise<Stored>;

export interface ReceivingOptions {
  receive: Receive;
  id: string;
  /** Whose places the sender shares. */
  from: string;
  /** How many bytes have come already, at another process. */
  size: number;
  /** Told when it is stored, or nothing of it is left. */
  ended: () => void;
}

export class Receiving {
  /** How many bytes have come. */
  size: number;
  readonly #options: ReceivingOptions;
  readonly #pipe = createPipe();
  #storing: Promise<Stored> | undefined;
  #expected: Digest | undefined;

  constructor(options: ReceivingOptions) {
    this.#options = options;
    this.size = options.size;
  }

  async send(chunks: Chunks, limit: number, whole?: number): Promise<void> {
    // Once they are taken their memory may be gone.
    const length = lengthOf(chunks);
    const stored = this.#store(limit, whole);
    // Whoever stores left early: with the reason.
    if (!(await this.#pipe.send(chunks))) await stored;
    this.size += length;
  }

  /** Resolves when all that was sent lies where another process finds it. */
  async flush(): Promise<void> {
    if (this.#storing !== undefined && !(await this.#pipe.send([]))) await this.#storing;
  }

  /** Stores what came, when it has this digest; otherwise nothing is left. */
  async finish(digest: Digest, limit: number): Promise<Stored> {
    this.#expected = digest;
    const stored = this.#store(limit, 0);
    this.#pipe.end();
    return stored;
  }

  /** Leaves nothing of what came, here or at another process. */
  async discard(reason: Error): Promise<void> {
    if (this.size > 0) this.#store(this.size, 0).catch(() => undefined);
    await this.breakOff(reason);
  }

  /** Ends it; of what came nothing is left, unless it is left to others. */
  async breakOff(reason: Error): Promise<void> {
    this.#pipe.breakOff(reason);
    await this.#storing?.catch(() => undefined);
  }

  /** Storing begins with the first bytes. */
  #store(limit: number, whole: number | undefined): Promise<Stored> {
    if (this.#storing === undefined) {
      const { receive, id, from, size, ended } = this.#options;
      this.#storing = receive(this.#pipe.content(), {
        id,
        from,
        limit,
        expected: whole,
        ownsChunks: true,
        ...(size > 0 && { resume: size }),
        wantsSha512: () => this.#expected?.algorithm === 'sha512',
        accept: (stored) => mustHave(this.#expected, stored),
      });
      // Whoever sends, or finishes, hears of a failure; before that it must not count as unhandled. Who refuses the
      // content before he has asked for the first of it leaves nobody to take it.
      this.#storing.catch(() => {
        this.#pipe.leave();
        ended();
      });
    }
    return this.#storing;
  }
}

function mustHave(expected: Digest | undefined, stored: Stored): void {
  const algorithm = expected?.algorithm ?? 'sha256';
  const digits = stored[algorithm] ?? '';
  if (digits === expected?.digits) return;
  throw new Refusal(
    'digest-invalid',
    `The content that came has the digest ${digestText({ algorithm, digits })}, not the one that was given.`,
  );
}

/** Hands chunks from one who sends to one who takes; it holds those of one time, and the sender waits until they are taken. */
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
    /** False when nobody takes chunks any more. */
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
    /** Nobody takes chunks any more. */
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
