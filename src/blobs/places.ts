// The places of uploads. Anybody may send files, so one sender has a few places and all have a bounded number, at all
// processes of a store together; and where they are all taken, whoever holds one without sending anything gives it up for
// whoever comes.
import { seconds } from '#domain/clock.ts';
import { limit } from '#domain/limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { lengthOf, type Chunks } from './blobs.ts';
import { createPace, least } from './pace.ts';
import { PlaceGroup, type Upload } from './place-group.ts';
import { onlyOne, type Shares } from './shares.ts';

export interface PlaceOptions {
  /** Uploads at once of one sender. */
  ofSender: number;
  /** Uploads at once of all senders together. */
  all: number;
  /** Milliseconds that have gone by since some moment; no clock that somebody sets. */
  elapsed: () => number;
  shares: Shares;
}

export interface Place {
  /** The chunks of a source, counted; ends with a refusal when the place is needed by somebody else. */
  watch(source: AsyncIterable<Chunks>): AsyncGenerator<Chunks>;
  leave(): void;
}

/** How often a process looks for those who were refused elsewhere. */
const every = seconds(1);

export class Places {
  readonly #options: PlaceOptions;
  readonly #all: PlaceGroup;
  readonly #senders = new Map<string, PlaceGroup>();
  /** One comes at a time, and finds what those before him have taken. */
  readonly #inTurn = limit({ atOnce: 1 });
  #looking: NodeJS.Timeout | undefined;

  constructor(options: Partial<PlaceOptions> = {}) {
    this.#options = { ofSender: 32, all: 512, elapsed: () => performance.now(), shares: onlyOne, ...options };
    this.#all = new PlaceGroup({
      ...this.#options,
      name: 'uploads',
      most: this.#options.all,
      step: 32,
      refusal: 'The store is receiving too many uploads',
      // Of those who hold most, first.
      makeRoom: () =>
        [...this.#senders.values()]
          .sort((one, other) => other.holders.size - one.holders.size)
          .some(({ holders }) => endSlowest(holders)),
    });
  }

  /** A place for one more upload of a sender, or of somebody who counts alone; refused while there is none. */
  take(sender: string | undefined): Promise<Place> {
    return this.#inTurn(async () => {
      this.#looking ??= setInterval(() => {
        // What could not be given back is given back later, and who is refused meanwhile comes again.
        this.look().catch(() => undefined);
      }, every).unref();
      const own = sender === undefined ? undefined : (this.#senders.get(sender) ?? this.#ofSender(sender));
      own?.mustHaveRoom();
      await this.#all.admit();
      if (own !== undefined) this.#senders.set(sender!, own);
      await own?.admit();
      const upload = this.#begin(own === undefined ? [this.#all] : [own, this.#all]);
      return { watch: (source) => watched(source, upload), leave: () => upload.leave() };
    });
  }

  /** Gives back what is not needed here, and looks for those who were refused elsewhere. */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      const others = await this.#options.shares.others();
      await this.#all.settle(others);
      for (const [sender, group] of this.#senders) {
        await group.settle(others);
        if (group.isForgotten) this.#senders.delete(sender);
      }
      if (this.#all.isForgotten && this.#senders.size === 0) this.close();
    });
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #ofSender(sender: string): PlaceGroup {
    const group: PlaceGroup = new PlaceGroup({
      ...this.#options,
      name: `uploads of ${sender}`,
      most: this.#options.ofSender,
      step: 4,
      refusal: 'Too many uploads from this address are under way',
      makeRoom: () => endSlowest(group.holders),
    });
    return group;
  }

  #begin(groups: readonly PlaceGroup[]): Upload {
    const upload: Upload = {
      pace: createPace(this.#options.elapsed),
      stop: () => undefined,
      end() {
        this.leave();
        this.stop(tooSlow());
      },
      leave() {
        for (const { holders } of groups) holders.delete(upload);
      },
    };
    for (const { holders } of groups) holders.add(upload);
    return upload;
  }
}

/** Ends the slowest of these uploads, when it is slow at all. */
function endSlowest(uploads: Iterable<Upload>): boolean {
  const slow = [...uploads].filter(({ pace }) => pace.isSlow());
  const [slowest] = slow.sort((one, other) => one.pace.moved() - other.pace.moved());
  slowest?.end();
  return slowest !== undefined;
}

async function* watched(source: AsyncIterable<Chunks>, upload: Upload): AsyncGenerator<Chunks> {
  const { pace } = upload;
  const chunks = chunksOf(source);
  try {
    for (;;) {
      pace.waits();
      const next = await new Promise<IteratorResult<Chunks, void>>((resolve, reject) => {
        upload.stop = reject;
        chunks.next().then(resolve, reject);
      });
      pace.got(next.done === true ? 0 : lengthOf(next.value));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not waited for: a source that stands still would never come to its end.
    chunks.return().catch(() => undefined);
  }
}

async function* chunksOf(source: AsyncIterable<Chunks>): AsyncGenerator<Chunks, void> {
  yield* source;
}

const tooSlow = (): Refusal =>
  new Refusal(
    'too-many-requests',
    'The upload moved by less than 1 KiB a second while others waited for its place, and was ended; send the file again.',
    least.milliseconds / seconds(1),
  );
