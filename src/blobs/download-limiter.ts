// Limits downloads of devices and controllers: how many at the same time in all processes of a store, and how many
// bytes per second from this process. A download over the limit is refused before its first byte; a running download is
// never slowed down or ended. snapd does not retry a refused file; juju does, when the response tells it to.
import { minutes, seconds, type Now } from '#domain/clock.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { createRateLimiter } from '#domain/rate-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { PlaceGroup } from './place-group.ts';
import type { Shares } from './shares.ts';

export interface DownloadLimiter {
  /** Begins a download of `size` bytes. Call the result once, with the number of bytes that were sent. */
  begin(size: number): Promise<(sent: number) => void>;
  close(): void;
}

export interface DownloadLimits {
  max_downloads?: number;
  /** Bytes per second. */
  max_download_rate?: number;
}

interface DownloadOptions {
  /** The current limits: a reload changes them. */
  limits: () => DownloadLimits;
  shares: Shares;
  now: Now;
  elapsed: () => number;
}

/** How often a process releases places that it does not need, and checks for downloads that other processes refused. */
const every = seconds(1);

/** For how many seconds a burst may exceed the rate. */
const burst = minutes(1) / seconds(1);

export function createDownloadLimiter({ limits, shares, now, elapsed }: DownloadOptions): DownloadLimiter {
  const rates = createRateLimiter(now);
  const places = new PlaceGroup<object>({
    name: 'downloads',
    get maxPlaces() {
      return limits().max_downloads ?? Infinity;
    },
    step: 32,
    refusal: 'The store has reached its maximum of simultaneous downloads',
    makeRoom: () => false,
    shares,
    elapsed,
  });
  /** One request at a time, so that each sees the places that earlier ones took. */
  const inTurn = createConcurrencyLimit({ concurrency: 1 });
  let looking: NodeJS.Timeout | undefined;
  const look = (): Promise<void> => inTurn(async () => places.settle(await shares.others()));

  const takePlace = (): Promise<object> =>
    inTurn(async () => {
      // If the release fails, a later one makes up for it.
      looking ??= setInterval(() => void look().catch(() => undefined), every).unref();
      await places.admit();
      const place = {};
      places.holders.add(place);
      return place;
    });

  return {
    async begin(size) {
      const { max_downloads: maxDownloads, max_download_rate: rate } = limits();
      const place = maxDownloads === undefined ? undefined : await takePlace();
      const wait = rate === undefined ? undefined : rates.take('all', size, { perSecond: rate, holds: rate * burst });
      if (wait !== undefined) {
        if (place !== undefined) places.holders.delete(place);
        throw tooMuch(wait);
      }
      let isEnded = false;
      return (sent) => {
        if (isEnded) return;
        isEnded = true;
        if (place !== undefined) places.holders.delete(place);
        rates.refund('all', Math.max(0, size - sent));
      };
    },

    close() {
      clearInterval(looking);
    },
  };
}

function tooMuch(wait: number): Refusal {
  const retrySeconds = Math.min(wait, minutes(60) / seconds(1));
  return new Refusal(
    'too-many-requests',
    `The store has reached its maximum download rate; try again in ${String(retrySeconds)} seconds.`,
    retrySeconds,
  );
}
