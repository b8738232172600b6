// Reads what the store keeps, over and over, so slowly that nobody notices, and takes out of service what is damaged.
import type { Logger } from 'pino';

import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';

export interface ScrubState {
  /** Since the start of the process. */
  blobs: number;
  bytes: number;
  damaged: number;
  /** When the last whole round ended. */
  roundEnded: string | undefined;
}

export interface Scrub {
  state(): ScrubState;
  stop(): Promise<void>;
}

export interface ScrubOptions {
  records: Records;
  blobs: Blobs;
  digests: DigestPool;
  now: Now;
  log: Logger;
  /** Bytes a second; 0 stands still. A reload may change it. */
  rate: () => number;
  /** Milliseconds to rest after a whole round. */
  rest: number;
  /** Where in the blobs the first round begins, from 0 to 1: a process that is restarted often still comes round. */
  begin?: number;
}

/** How much is read between two looks at the clock. */
const stride = 4 * 1024 * 1024;
/** How often a scrub that stands still looks whether it may go on. */
const standing = 10_000;

/** Begins to scrub; whoever stops it waits for no more than a stride. */
export function startScrub({
  records,
  blobs,
  digests,
  now,
  log,
  rate,
  rest,
  begin = Math.random(),
}: ScrubOptions): Scrub {
  const state: ScrubState = { blobs: 0, bytes: 0, damaged: 0, roundEnded: undefined };
  const stopping = new AbortController();
  let from = Math.floor(begin * 256)
    .toString(16)
    .padStart(2, '0');

  const pause = (milliseconds: number): Promise<void> => {
    if (stopping.signal.aborted || milliseconds <= 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, milliseconds, undefined);
    timer.unref();
    stopping.signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve(undefined);
      },
      { once: true },
    );
    return promise;
  };

  async function rounds(): Promise<void> {
    while (!stopping.signal.aborted) {
      for await (const blob of blobs.list()) {
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been aborted meanwhile
        if (stopping.signal.aborted) return;
        if (blob.sha3_384 < from) continue;
        await scrub(blob);
      }
      // The first round leaves out what comes before its beginning, so the next one follows at once.
      const whole = from === '';
      from = '';
      if (!whole) continue;
      state.roundEnded = timestamp(now());
      await pause(rest);
    }
  }

  async function scrub(blob: StoredBlob): Promise<void> {
    while (rate() === 0 && !stopping.signal.aborted) await pause(standing);
    const verdict = await judge(blob, blobs, digests, async (bytes, milliseconds) => {
      state.bytes += bytes;
      await pause((bytes / Math.max(1, rate())) * 1000 - milliseconds);
      return !stopping.signal.aborted;
    });
    if (verdict === 'unknown') return;
    state.blobs++;
    if (verdict === 'good') return;
    state.damaged++;
    await takeOut(blob, { records, blobs, now, log });
  }

  const running = rounds().catch((error: unknown) => {
    log.error({ err: error }, 'cannot go on scrubbing until the next start');
  });
  return {
    state: () => ({ ...state }),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Whether a blob still has its digest; `unknown` when it went away meanwhile or `goOn` said no. */
export async function judge(
  { sha3_384, size }: StoredBlob,
  blobs: Pick<Blobs, 'path' | 'stat'>,
  digests: DigestPool,
  goOn: (bytes: number, milliseconds: number) => Promise<boolean> | boolean,
): Promise<'good' | 'damaged' | 'unknown'> {
  const file = digests.follow(blobs.path(sha3_384), ['sha3-384']);
  try {
    for (let end = 0; end < size;) {
      const before = performance.now();
      const bytes = Math.min(stride, size - end);
      end += bytes;
      await file.grown(end);
      if (!(await goOn(bytes, performance.now() - before))) return 'unknown';
    }
    return (await file.end())['sha3-384'] === sha3_384 ? 'good' : 'damaged';
  } catch (error) {
    // Removed since it was listed, which is no damage; a file that ends too early or cannot be read is.
    if ((await blobs.stat(sha3_384)) === undefined) return 'unknown';
    if (isOurs(error)) throw error;
    return 'damaged';
  } finally {
    file.abandon();
  }
}

/** Lack of descriptors or memory is no damage of the disk. */
const isOurs = (error: unknown): boolean =>
  error instanceof Error &&
  ['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES'].includes(String((error.cause as { code?: string } | undefined)?.code));

type Kept = Pick<ScrubOptions, 'records' | 'blobs' | 'digests' | 'now' | 'log'>;

/** Looks again at a blob that seemed damaged to somebody who wanted to read it, and takes it out of service when it is. */
export function suspicions(kept: Omit<Kept, 'blobs'> & { blobs: () => Blobs }) {
  const looking = new Set<string>();
  return ({ sha3_384 }: { sha3_384: string }): void => {
    if (looking.has(sha3_384)) return;
    looking.add(sha3_384);
    void lookAgain({ ...kept, blobs: kept.blobs() }, sha3_384).finally(() => looking.delete(sha3_384));
  };
}

async function lookAgain(kept: Kept, sha3_384: string): Promise<void> {
  const { blobs, digests, log } = kept;
  try {
    const blob = await blobs.stat(sha3_384);
    if (blob !== undefined && (await judge(blob, blobs, digests, () => true)) === 'damaged') await takeOut(blob, kept);
  } catch (error) {
    log.error({ err: error, blob: sha3_384 }, 'cannot look again at a blob that seemed damaged');
  }
}

async function takeOut(blob: StoredBlob, { records, blobs, now, log }: Omit<Kept, 'digests'>): Promise<void> {
  await quarantine(blob, { records, blobs, at: timestamp(now()), actor: 'larder' });
  log.error(
    { blob: blob.sha3_384, size: blob.size },
    'a blob is damaged and out of service; upload the same file again, or restore it',
  );
}

/** Takes a damaged blob out of service, and says so in the records. */
export async function quarantine(
  { sha3_384, size }: StoredBlob,
  { records, blobs, at, actor }: { records: Records; blobs: Blobs; at: string; actor: string },
): Promise<void> {
  const entry = { at, actor, action: 'quarantine_blob', object: `blob/${sha3_384}`, details: { size } };
  await records.change(entry, (tx) => tx.damagedBlobs.add({ sha3_384, size, foundAt: at }));
  await blobs.quarantine(sha3_384);
}
