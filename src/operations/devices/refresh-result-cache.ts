// Caches the results of usual refreshes. Nearly every device asks for nearly all its snaps whether their channels hold a newer
// revision. The result depends only on records, so its bytes are reused until a record changes: that saves a fifth of a refresh of
// thirty snaps (`npm run bench -- devices`). The caller checks for each request whether the device may have the snap and reads its
// data.
import type { RefreshAction, RefreshContext } from '#contract/wire.ts';
import type { Epoch } from '#domain/revisions/epoch.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ChosenSnapRevision } from './choose-revision.ts';
import type { SnapFieldSelection } from './served-snap.ts';

/** A cached result: valid for every device that asks for this channel of the snap. */
export interface CachedRefreshResult {
  snap: PublishedPackage;
  chosen: ChosenSnapRevision;
  epoch: Epoch;
  /** The whole result. */
  bytes: Buffer;
}

/** The cached results for devices of one architecture that request the same fields. */
export interface RefreshResults {
  of(id: string, channel: string): CachedRefreshResult | undefined;
  keep(id: string, channel: string, result: CachedRefreshResult): void;
}

/** The tracked channel, if the device refreshes a snap and sends nothing else that influences the result. */
export function channelOfUsualRefresh(action: RefreshAction, item: RefreshContext | undefined): string | undefined {
  const isUsual =
    action.action === 'refresh' &&
    item !== undefined &&
    item['instance-key'] === item['snap-id'] &&
    (action.channel ?? action.revision ?? action['cohort-key'] ?? item['cohort-key']) === undefined;
  return isUsual ? item['tracking-channel'] : undefined;
}

type ResultsBySnap = Map<string, Map<string, CachedRefreshResult>>;

class RefreshResultCache {
  /** Maximum bytes; when they are exceeded, all results are dropped, as in a new cache generation. */
  readonly #most: number;
  #generation: object | undefined;
  #size = 0;
  #told = new Map<string, Map<string, ResultsBySnap>>();

  constructor(maxBytes: number) {
    this.#most = maxBytes;
  }

  /** `generation` is the cache generation, a new object after each change of a relevant record. Read it before those records. */
  in(generation: object, architecture: string, { key }: SnapFieldSelection): RefreshResults {
    if (generation !== this.#generation) this.#forget(generation);
    let bySnap = this.#told.get(architecture)?.get(key);
    return {
      of: (id, channel) => bySnap?.get(id)?.get(channel),
      keep: (id, channel, result) => {
        if (generation !== this.#generation) return;
        this.#size += result.bytes.length + [architecture, key, id, channel].join().length;
        if (this.#size > this.#most) this.#forget(generation);
        bySnap = inner(inner(this.#told, architecture), key);
        inner(bySnap, id).set(channel, result);
      },
    };
  }

  #forget(generation: object): void {
    this.#told = new Map();
    this.#size = 0;
    this.#generation = generation;
  }
}

/** The inner map under a key; created on first use. */
function inner<Key, Value>(maps: Map<string, Map<Key, Value>>, key: string): Map<Key, Value> {
  const innerMap = maps.get(key) ?? new Map<Key, Value>();
  if (innerMap.size === 0) maps.set(key, innerMap);
  return innerMap;
}

export const refreshResultCache = new RefreshResultCache(16 * 1024 * 1024);
