// Limits concurrent uploads. Any client may send files, so one sender has few places, and all senders have a bounded
// number in all processes of a store. If all places are taken, an upload that sends nothing loses its place to a new
// one.
import { seconds } from '#domain/clock.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { lengthOf, type Chunks } from './blobs.ts';
import { createPace, minPace } from './pace.ts';
import { PlaceGroup, type ActiveUpload } from './place-group.ts';
import { soleProcessShares, type Shares } from './shares.ts';

export interface PlaceOptions {
  /** Maximum of concurrent uploads of one sender. */
  ofSender: number;
  /** Maximum of concurrent uploads of all senders together. */
  all: number;
  /** A monotonic clock in milliseconds. */
  elapsed: () => number;
  shares: Shares;
}

export interface UploadPlace {
  /** Passes on the chunks of a source and counts them; ends with a refusal if another upload needs the place. */
  watch(source: AsyncIterable<Chunks>): AsyncGenerator<Chunks>;
  leave(): void;
}

/** How often a process checks for uploads that other processes refused. */
const every = seconds(1);

export class UploadPlaces {
  readonly #options: PlaceOptions;
  readonly #all: PlaceGroup;
  readonly #senders = new Map<string, PlaceGroup>();
  /** One request at a time, so that each sees the places that earlier ones took. */
  readonly #inTurn = createConcurrencyLimit({ concurrency: 1 });
  #rebalanceTimer: NodeJS.Timeout | undefined;

  constructor(options: Partial<PlaceOptions> = {}) {
    this.#options = { ofSender: 32, all: 512, elapsed: () => performance.now(), shares: soleProcessShares, ...options };
    this.#all = new PlaceGroup({
      ...this.#options,
      name: 'uploads',
      maxPlaces: this.#options.all,
      step: 32,
      refusal: 'The store is receiving too many uploads',
      // Senders with the most uploads come first.
      makeRoom: () =>
        [...this.#senders.values()]
          .sort((group, other) => other.holders.size - group.holders.size)
          .some(({ holders }) => endSlowest(holders)),
    });
  }

  /** Takes a place for an upload of a sender, or of an upload without a sender; refuses if there is none. */
  take(sender: string | undefined): Promise<UploadPlace> {
    return this.#inTurn(async () => {
      this.#rebalanceTimer ??= setInterval(() => {
        // If the release fails, a later check makes up for it, and refused senders try again.
        this.rebalance().catch(() => undefined);
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

  /** Releases places that are not needed here, and checks for uploads that other processes refused. */
  rebalance(): Promise<void> {
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

  /** Stops checking. */
  close(): void {
    clearInterval(this.#rebalanceTimer);
    this.#rebalanceTimer = undefined;
  }

  #ofSender(sender: string): PlaceGroup {
    const group: PlaceGroup = new PlaceGroup({
      ...this.#options,
      name: `uploads of ${sender}`,
      maxPlaces: this.#options.ofSender,
      step: 4,
      refusal: 'Too many uploads from this address are in progress',
      makeRoom: () => endSlowest(group.holders),
    });
    return group;
  }

  #begin(groups: readonly PlaceGroup[]): ActiveUpload {
    const upload: ActiveUpload = {
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

/** Ends the slowest of these uploads, if any is slow. */
function endSlowest(uploads: Iterable<ActiveUpload>): boolean {
  const slow = [...uploads].filter(({ pace }) => pace.isSlow());
  const [slowest] = slow.sort((upload, other) => upload.pace.moved() - other.pace.moved());
  slowest?.end();
  return slowest !== undefined;
}

async function* watched(source: AsyncIterable<Chunks>, upload: ActiveUpload): AsyncGenerator<Chunks> {
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
    // Not awaited: a source that is stalled would never end.
    chunks.return().catch(() => undefined);
  }
}

async function* chunksOf(source: AsyncIterable<Chunks>): AsyncGenerator<Chunks, void> {
  yield* source;
}

const tooSlow = (): Refusal =>
  new Refusal(
    'too-many-requests',
    'The upload was ended because it was slower than 1 KiB per second while other uploads waited. Send the file again.',
    minPace.milliseconds / seconds(1),
  );
