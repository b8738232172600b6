// Reads all blobs of the store in an endless, slow loop. Puts corrupt ones into quarantine, and intact ones back into service.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Health } from '#platform/health.ts';
import type { BlobReports } from './blob-reports.ts';
import { isOurs, verifyBlob, type ReadContinuation } from './verify-blob.ts';
import { restoreIntactBlobs, quarantine, type QuarantineContext } from './quarantine.ts';

export interface ScrubState {
  /** Since the start of the process. */
  blobs: number;
  bytes: number;
  damaged: number;
  /** When the last complete round ended. */
  roundEnded: string | undefined;
}

export interface Scrub {
  state(): ScrubState;
  stop(): Promise<void>;
}

/** The parts that act on the result of a read. */
export interface ScrubParts {
  records: StoreRecords;
  acts: Acts;
  blobs: Blobs;
  digests: DigestPool;
  reports: BlobReports;
  now: Now;
  log: Pick<Logger, 'error' | 'warn'>;
}

export interface ScrubOptions extends ScrubParts {
  health: Pick<Health, 'report'>;
  /** Bytes per second; 0 pauses the scrub. A reload may change it. */
  rate: () => number;
  /** Milliseconds to rest after a complete round. */
  rest: number;
  /** Milliseconds before a failed round starts again. */
  retry?: number;
  /** Where in the blobs the first round starts, from 0 to 1, so that a process that restarts often still covers all blobs. */
  begin?: number;
}

/** Milliseconds between checks of the rate while the scrub is paused. */
const pausedCheckMs = 10_000;
/** Number of consecutive failed rounds before the administrator is told. */
const failedRoundsBeforeReport = 3;

/** Starts the scrub. `stop` waits for at most one stride. */
export function startScrub(options: ScrubOptions): Scrub {
  const { blobs, digests, now, log, health, rate, rest, retry = minutes(1), begin = Math.random() } = options;
  const state: ScrubState = { blobs: 0, bytes: 0, damaged: 0, roundEnded: undefined };
  const { signal, pause, stop } = pauses();
  let from = Math.floor(begin * 256)
    .toString(16)
    .padStart(2, '0');
  let unfinished = 0;

  async function rounds(): Promise<void> {
    while (!signal.aborted) {
      const error = await round().catch((thrown: unknown) => thrown);
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been aborted meanwhile
      if (signal.aborted) return;
      if (error !== undefined) log.warn({ err: error }, 'cannot finish a round of the scrub; it starts again');
      unfinished = error === undefined ? 0 : unfinished + 1;
      health.report('scrub-stuck', unfinished < failedRoundsBeforeReport ? undefined : {});
      // The first round skips the blobs before its start, so the next round follows without a rest.
      const whole = from === '';
      from = '';
      if (error === undefined && whole) state.roundEnded = timestamp(now());
      if (error !== undefined || whole) await pause(error === undefined ? rest : retry);
    }
  }

  /** Reads every blob that can be found. Returns the error if some could not be listed. */
  async function round(): Promise<unknown> {
    let failure: unknown;
    await stand();
    await putBack();
    for await (const blob of blobs.list((error) => (failure = error))) {
      if (signal.aborted) return undefined;
      if (blob.sha3_384 >= from) await scrub(blob);
    }
    return failure;
  }

  async function putBack(): Promise<void> {
    const back = await restoreIntactBlobs(custody(options), digests, slowly);
    if (back.length > 0) log.warn({ blobs: back }, 'blobs that were out of service are intact and in service again');
    await options.reports.damaged();
  }

  async function scrub(blob: StoredBlob): Promise<void> {
    await stand();
    const verdict = await examine(blob, options, slowly);
    if (verdict === 'unknown') return;
    state.blobs++;
    if (verdict === 'damaged') state.damaged++;
  }

  const stand = async (): Promise<void> => {
    while (rate() === 0 && !signal.aborted) await pause(pausedCheckMs);
  };

  const slowly: ReadContinuation = async (bytes, milliseconds) => {
    state.bytes += bytes;
    await pause((bytes / Math.max(1, rate())) * 1000 - milliseconds);
    return !signal.aborted;
  };

  const running = rounds();
  return {
    state: () => ({ ...state }),
    async stop() {
      stop();
      await running;
    },
  };
}

/** Reads a blob and acts on the result: a corrupt blob goes into quarantine, an unreadable one is reported. */
async function examine(
  blob: StoredBlob,
  parts: ScrubParts,
  goOn?: ReadContinuation,
): Promise<'good' | 'damaged' | 'unreadable' | 'unknown'> {
  const { blobs, digests, reports, log } = parts;
  const result = await verifyBlob(blob, blobs, digests, goOn);
  if (result.verdict === 'unreadable') {
    log.warn({ err: result.cause, blob: blob.sha3_384 }, 'cannot read a blob');
    // A lack of file descriptors, for example, says nothing about the disk, and the next round reads the blob again.
    if (!isOurs(result.cause)) await reports.unreadable(blob.sha3_384);
    return 'unreadable';
  }
  reports.settled(blob.sha3_384);
  if (result.verdict === 'damaged') {
    await quarantine(blob, custody(parts));
    log.error(
      { blob: blob.sha3_384, size: blob.size },
      'a blob is corrupt and out of service; upload the same file again, or restore it',
    );
    await reports.damaged();
  } else if (result.verdict === 'good' && result.misread) {
    log.warn(
      { blob: blob.sha3_384 },
      'a blob is intact on the disk but not in the page cache; the memory may be failing',
    );
  }
  return result.verdict;
}

const custody = ({ records, acts, blobs }: ScrubParts): QuarantineContext => ({ records, acts, blobs, actor: itself });

/** Returns a function that verifies a blob again after a reader found it corrupt. */
export function createSuspectCheck(parts: Omit<ScrubParts, 'blobs'> & { blobs: () => Blobs }) {
  const looking = new Set<string>();
  return (blob: { sha3_384: string; size: number }): void => {
    if (looking.has(blob.sha3_384)) return;
    looking.add(blob.sha3_384);
    void lookAgain({ ...parts, blobs: parts.blobs() }, blob.sha3_384).finally(() => looking.delete(blob.sha3_384));
  };
}

async function lookAgain(parts: ScrubParts, sha3_384: string): Promise<void> {
  try {
    const blob = await parts.blobs.stat(sha3_384);
    if (blob !== undefined) await examine(blob, parts);
  } catch (error) {
    parts.log.error({ err: error, blob: sha3_384 }, 'cannot read a blob again that seemed corrupt');
  }
}

/** Returns a pause that ends at once when the scrub stops. */
function pauses() {
  const stopping = new AbortController();
  const { signal } = stopping;
  return {
    signal,
    stop: (): void => {
      stopping.abort();
    },
    pause(milliseconds: number): Promise<void> {
      if (signal.aborted || milliseconds <= 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const ended = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', ended);
        resolve(undefined);
      };
      const timer = setTimeout(ended, milliseconds);
      timer.unref();
      signal.addEventListener('abort', ended, { once: true });
      return promise;
    },
  };
}
