// The places of uploads. Anybody may send files, so one sender has a few places and all have a bounded number; and where
// they are all taken, whoever holds one without sending anything gives it up for whoever comes.
import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

export interface PlaceOptions {
  /** Uploads at once of one sender. */
  ofSender: number;
  /** Uploads at once of all senders together. */
  all: number;
  /** Milliseconds that have gone by since some moment; no clock that somebody sets. */
  elapsed: () => number;
}

export interface Place {
  /** The chunks of a source, counted; ends with a refusal when the place is needed by somebody else. */
  watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  leave(): void;
}

export interface Places {
  /** A place for one more upload of a sender; refused while there is none. */
  take(sender: string): Place;
}

/** Who moves less than so many bytes in so many milliseconds, gives his place up where somebody waits for it. */
const least = { bytes: 10 * 1024, milliseconds: seconds(10) };

/** When the store itself made an upload wait for so long, what it moved meanwhile says nothing of its sender. */
const ownDelay = seconds(1);

export function createPlaces(options: Partial<PlaceOptions> = {}): Places {
  const { ofSender = 32, all = 512, elapsed = () => performance.now() } = options;
  const senders = new Map<string, Set<Upload>>();
  let taken = 0;

  /** Ends the slowest of these uploads, when it is slow at all. */
  const endSlowest = (uploads: Iterable<Upload>): boolean => {
    const slow = [...uploads].filter(({ pace }) => pace.isSlow());
    const [slowest] = slow.sort((one, other) => one.pace.moved() - other.pace.moved());
    slowest?.end();
    return slowest !== undefined;
  };

  /** Of those who hold most, first. */
  const makeRoom = (): boolean =>
    [...senders.values()].sort((one, other) => other.size - one.size).some((uploads) => endSlowest(uploads));

  return {
    take(sender) {
      const own = senders.get(sender) ?? new Set<Upload>();
      if (own.size >= ofSender && !endSlowest(own)) throw full('Too many uploads from this address are under way');
      if (taken >= all && !makeRoom()) throw full('The store is receiving too many uploads');
      const pace = createPace(elapsed);
      const upload: Upload = {
        pace,
        stop: () => undefined,
        end() {
          this.leave();
          this.stop(tooSlow());
        },
        leave() {
          if (!own.delete(upload)) return;
          taken--;
          if (own.size === 0) senders.delete(sender);
        },
      };
      senders.set(sender, own.add(upload));
      taken++;
      return { watch: (source) => watched(source, upload), leave: () => upload.leave() };
    },
  };
}

interface Upload {
  pace: Pace;
  /** Ends it with a reason, wherever it is waiting. */
  stop: (reason: Error) => void;
  end(): void;
  leave(): void;
}

async function* watched(source: AsyncIterable<Uint8Array>, upload: Upload): AsyncGenerator<Uint8Array> {
  const { pace } = upload;
  const chunks = chunksOf(source);
  try {
    for (;;) {
      pace.waits();
      const next = await new Promise<IteratorResult<Uint8Array, void>>((resolve, reject) => {
        upload.stop = reject;
        chunks.next().then(resolve, reject);
      });
      pace.got(next.done === true ? 0 : next.value.length);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not waited for: a source that stands still would never come to its end.
    chunks.return().catch(() => undefined);
  }
}

async function* chunksOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* source;
}

type Pace = ReturnType<typeof createPace>;

/** How much an upload has moved of late, second by second. */
function createPace(elapsed: () => number) {
  const slots: { second: number; bytes: number }[] = [];
  let judgedSince = elapsed();
  let gotAt = elapsed();
  let isWaiting = false;
  const secondOf = (moment: number): number => Math.floor(moment / seconds(1));

  return {
    /** Its sender is waited for. */
    waits() {
      const moment = elapsed();
      if (moment - gotAt > ownDelay) judgedSince = moment;
      isWaiting = true;
    },
    got(bytes: number) {
      gotAt = elapsed();
      isWaiting = false;
      const second = secondOf(gotAt);
      const last = slots.at(-1);
      if (last?.second === second) last.bytes += bytes;
      else slots.push({ second, bytes });
      if (slots.length > secondOf(least.milliseconds) + 1) slots.shift();
    },
    /** Bytes within the time that counts. */
    moved(): number {
      const from = secondOf(elapsed() - least.milliseconds);
      return slots.filter(({ second }) => second >= from).reduce((sum, { bytes }) => sum + bytes, 0);
    },
    isSlow(): boolean {
      return isWaiting && elapsed() - judgedSince >= least.milliseconds && this.moved() < least.bytes;
    },
  };
}

const full = (what: string): Refusal =>
  new Refusal('too-many-requests', `${what}; try again in ten seconds.`, least.milliseconds / seconds(1));

const tooSlow = (): Refusal =>
  new Refusal(
    'too-many-requests',
    'The upload moved by less than 1 KiB a second while others waited for its place, and was ended; send the file again.',
    least.milliseconds / seconds(1),
  );
