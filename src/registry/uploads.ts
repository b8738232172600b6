// Uploads of blobs: each may come in several requests, one after the other. All that arrives goes on at once to whoever
// stores it, who makes the sender wait when the disk is slower. What was not finished does not outlive the process;
// clients begin again then.
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText, repositoryName, type Digest, type Repository } from './repository.ts';

/** What is known of content that was stored. */
export interface Stored {
  size: number;
  sha3_384: string;
  sha256: string;
  sha512?: string | undefined;
}

/** Stores content as it comes in; nothing is left of what `accept` refuses by throwing. */
export type Receive = (
  source: AsyncIterable<Uint8Array>,
  options: {
    id: string;
    from: string;
    limit: number;
    expected?: number | undefined;
    ownsChunks: true;
    /** Asked when all has come: whether the sha512 is wanted as well. */
    wantsSha512: () => boolean;
    accept: (stored: Stored) => void;
  },
) => Promise<Stored>;

/** Who sends, and whereto. */
export interface Sender extends Repository {
  accountId: string | null;
}

export interface BlobUpload {
  readonly id: string;
  readonly sender: Sender;
  /** How many bytes have come. */
  readonly size: number;
  /**
   * Takes in the next bytes; only one sender at a time. When it throws after a connection broke, what came before is
   * kept, and the sender can go on from `size`. `whole` is how many bytes all of the content has, where that is known.
   * The chunks are given away: whoever sends looks at none of them again.
   */
  append(chunks: AsyncIterable<Uint8Array>, options: { limit: number; whole?: number | undefined }): Promise<void>;
  /** Stores what came, when it has this digest; otherwise nothing is left. The upload has ended either way. */
  finish(digest: Digest, limit: number): Promise<Stored>;
  /** Gives the upload up; nothing is left. */
  abandon(): Promise<void>;
}

export interface BlobUploads {
  begin(sender: Sender): BlobUpload;
  /** The upload of this id that this account sends into this repository, while it lasts. */
  find(sender: Sender, id: string): BlobUpload | undefined;
  /** Gives up all that are under way. */
  close(): Promise<void>;
}

/** An upload that nobody continues for so long is given up. */
const patience = minutes(10);
const atOnce = 128;
const atOnceInRepository = 32;

export function createBlobUploads(receive: Receive, newId: () => string, idle = patience): BlobUploads {
  const uploads = new Map<string, BlobUpload>();

  function begin(sender: Sender): BlobUpload {
    const name = repositoryName(sender);
    const here = [...uploads.values()].filter((upload) => repositoryName(upload.sender) === name).length;
    if (uploads.size >= atOnce || here >= atOnceInRepository) {
      throw new Refusal(
        'too-many-requests',
        'Too many uploads of blobs are under way; finish or cancel some, or try again later.',
        30,
      );
    }
    const id = newId();
    const pipe = conduit();
    let storing: Promise<Stored> | undefined;
    let expected: Digest | undefined;
    let size = 0;
    let busy = false;

    const clock = setTimeout(() => {
      if (busy) clock.refresh();
      else void upload.abandon();
    }, idle).unref();

    /** Storing begins with the first bytes. */
    function store(limit: number, whole?: number): Promise<Stored> {
      if (storing === undefined) {
        storing = receive(pipe.content(), {
          id,
          // Whoever pushes here has shown who he is, and shares no places with strangers at his address.
          from: sender.accountId ?? name,
          limit,
          expected: whole,
          ownsChunks: true,
          wantsSha512: () => expected?.algorithm === 'sha512',
          accept: (stored) => mustHave(expected, stored),
        });
        // Whoever sends, or finishes, hears of a failure; before that it must not count as unhandled. Who refuses the
        // content before he has asked for the first of it leaves nobody to take it.
        storing.catch(() => {
          pipe.leave();
          end();
        });
      }
      return storing;
    }

    function end(): void {
      clearTimeout(clock);
      uploads.delete(id);
    }

    async function alone<T>(work: () => Promise<T>): Promise<T> {
      if (busy)
        throw new Refusal(
          'conflict',
          'Another request is sending to this upload; send the chunks one after the other.',
        );
      busy = true;
      try {
        return await work();
      } finally {
        busy = false;
        clock.refresh();
      }
    }

    const upload: BlobUpload = {
      id,
      sender,
      get size() {
        return size;
      },
      append: (chunks, { limit, whole }) =>
        alone(async () => {
          for await (const chunk of chunks) {
            // Once it is taken its memory may be gone.
            const { length } = chunk;
            if (length === 0) continue;
            const stored = store(limit, whole);
            // Whoever stores left early: with the reason.
            if (!(await pipe.send(chunk))) await stored;
            size += length;
          }
        }),
      finish: (digest, limit) =>
        alone(async () => {
          expected = digest;
          try {
            const stored = store(limit, 0);
            pipe.end();
            return await stored;
          } finally {
            end();
          }
        }),
      async abandon() {
        end();
        pipe.breakOff(new Refusal('blob-upload-unknown', 'The upload was cancelled.'));
        await storing?.catch(() => undefined);
      },
    };
    uploads.set(id, upload);
    return upload;
  }

  return {
    begin,
    find(sender, id) {
      const found = uploads.get(id);
      const isTheirs =
        found?.sender.accountId === sender.accountId && repositoryName(found.sender) === repositoryName(sender);
      return isTheirs ? found : undefined;
    },
    async close() {
      await Promise.all([...uploads.values()].map((upload) => upload.abandon()));
    },
  };
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

/** Hands chunks from one who sends to one who takes; it holds one, and the sender waits until that is taken. */
function conduit() {
  let held: { chunk: Uint8Array; taken: PromiseWithResolvers<boolean> } | undefined;
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
    async send(chunk: Uint8Array): Promise<boolean> {
      if (left || broken !== undefined) return false;
      const taken = Promise.withResolvers<boolean>();
      held = { chunk, taken };
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
    async *content(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          if (broken !== undefined) throw broken;
          if (held !== undefined) {
            yield held.chunk;
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
