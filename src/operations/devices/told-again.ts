// What nearly every device asks of nearly all its snaps: whether their channels hold something new. What it is told follows from
// the records alone, and is told again, byte by byte, until one of them has changed: a fifth of a refresh of thirty snaps
// (`npm run bench -- devices`). Whether it may have the snap, and reads its data, is looked at each time.
import type { RefreshAction, RefreshContext } from '#api/wire.ts';
import type { Epoch } from '#domain/epoch.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Chosen } from './choosing.ts';
import type { Fields } from './served-snap.ts';

/** What every device is told that asks for a channel of a snap. */
export interface Told {
  snap: PublishedPackage;
  chosen: Chosen;
  epoch: Epoch;
  /** The whole result. */
  bytes: Buffer;
}

/** What is told of snaps to devices of one architecture that want the same members. */
export interface ToldSnaps {
  of(id: string, channel: string): Told | undefined;
  keep(id: string, channel: string, told: Told): void;
}

/** The channel of a device that refreshes a snap and says nothing else that would decide about it. */
export function usualChannel(action: RefreshAction, item: RefreshContext | undefined): string | undefined {
  const isUsual =
    action.action === 'refresh' &&
    item !== undefined &&
    item['instance-key'] === item['snap-id'] &&
    (action.channel ?? action.revision ?? action['cohort-key'] ?? item['cohort-key']) === undefined;
  return isUsual ? item['tracking-channel'] : undefined;
}

type BySnap = Map<string, Map<string, Told>>;

class ToldAgain {
  /** Bytes that are kept; with more of them all are forgotten, as in another era. */
  readonly #most: number;
  #era: object | undefined;
  #size = 0;
  #told = new Map<string, Map<string, BySnap>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `era` is another object whenever one of the records has changed that decide, and is asked for before they are read. */
  in(era: object, architecture: string, { key }: Fields): ToldSnaps {
    if (era !== this.#era) this.#forget(era);
    let bySnap = this.#told.get(architecture)?.get(key);
    return {
      of: (id, channel) => bySnap?.get(id)?.get(channel),
      keep: (id, channel, told) => {
        if (era !== this.#era) return;
        this.#size += told.bytes.length + [architecture, key, id, channel].join().length;
        if (this.#size > this.#most) this.#forget(era);
        bySnap = inner(inner(this.#told, architecture), key);
        inner(bySnap, id).set(channel, told);
      },
    };
  }

  #forget(era: object): void {
    this.#told = new Map();
    this.#size = 0;
    this.#era = era;
  }
}

/** A map in a map, made when it is first asked for. */
function inner<Key, Value>(maps: Map<string, Map<Key, Value>>, key: string): Map<Key, Value> {
  const found = maps.get(key) ?? new Map<Key, Value>();
  if (found.size === 0) maps.set(key, found);
  return found;
}

export const toldAgain = new ToldAgain(16 * 1024 * 1024);
