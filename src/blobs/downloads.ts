// Downloads of devices and controllers: how many at the same time, at all processes of a store together, and how many bytes
// a second from this one. Who comes too late is refused before any byte, and one that has begun is never slowed down or
// ended: snapd does not try again a file that was refused, and juju does, when it is told to.
import { minutes, seconds, type Now } from '#domain/clock.ts';
import { limit } from '#domain/limit.ts';
import { createRates } from '#domain/rate.ts';
import { Refusal } from '#domain/refusal.ts';
import { PlaceGroup } from './place-group.ts';
import type { Shares } from './shares.ts';

export interface Downloads {
  /** Begins one of so many bytes; gives what ends it, told how many of them were sent, once. */
  begin(size: number): Promise<(sent: number) => void>;
  close(): void;
}

export interface DownloadLimits {
  max_downloads?: number;
  /** Bytes a second. */
  max_download_rate?: number;
}

interface DownloadOptions {
  /** As they stand now: a reload changes them. */
  limits: () => DownloadLimits;
  shares: Shares;
  now: Now;
  elapsed: () => number;
}

/** How often a process gives back places that it does not need, and looks for those who were refused elsewhere. */
const every = seconds(1);

/** For how many seconds the rate may be exceeded by those who come at once. */
const burst = minutes(1) / seconds(1);

export function createDownloads({ limits, shares, now, elapsed }: DownloadOptions): Downloads {
  const rates = createRates(now);
  const places = new PlaceGroup<object>({
    name: 'downloads',
    get most() {
      return limits().max_downloads ?? Infinity;
    },
    step: 32,
    refusal: 'The store sends as many files as it may at the same time',
    makeRoom: () => false,
    shares,
    elapsed,
  });
  /** One comes at a time, and finds what those before him have taken. */
  const inTurn = limit({ atOnce: 1 });
  let looking: NodeJS.Timeout | undefined;
  const look = (): Promise<void> => inTurn(async () => places.settle(await shares.others()));

  const takePlace = (): Promise<object> =>
    inTurn(async () => {
      // What could not be given back is given back later.
      looking ??= setInterval(() => void look().catch(() => undefined), every).unref();
      await places.admit();
      const place = {};
      places.holders.add(place);
      return place;
    });

  return {
    async begin(size) {
      const { max_downloads: most, max_download_rate: rate } = limits();
      const place = most === undefined ? undefined : await takePlace();
      const wait = rate === undefined ? undefined : rates.ask('all', size, { perSecond: rate, holds: rate * burst });
      if (wait !== undefined) {
        if (place !== undefined) places.holders.delete(place);
        throw tooMuch(wait);
      }
      let isEnded = false;
      return (sent) => {
        if (isEnded) return;
        isEnded = true;
        if (place !== undefined) places.holders.delete(place);
        rates.giveBack('all', Math.max(0, size - sent));
      };
    },

    close() {
      clearInterval(looking);
    },
  };
}

function tooMuch(wait: number): Refusal {
  const most = Math.min(wait, minutes(60) / seconds(1));
  return new Refusal(
    'too-many-requests',
    `The store sends as much as it may at the moment; try again in ${String(most)} seconds.`,
    most,
  );
}
