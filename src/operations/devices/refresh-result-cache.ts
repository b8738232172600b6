// Caches the results of usual refreshes. Nearly every device asks for nearly all its snaps whether their channels hold a newer
// revision. The result depends only on records, so its bytes are reused until a record changes: that saves a fifth of a refresh of
// thirty snaps (`npm run bench -- devices`). The caller checks for each request whether the device may have the snap and reads its
// data.
import type { RefreshAction, RefreshContext } from '#contract/wire.ts';
import type { Epoch } from '#domain/revisions/epoch.ts';
import { ResponseCache, type ResponseKey } from '#http/response/response-cache.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ChosenSnapRevision } from './choose-revision.ts';

/** A cached result: valid for every device that asks for this channel of the snap. */
export interface CachedRefreshResult {
  /** The architecture, the key of the requested fields, the id of the snap and the channel. A result with a delta has it as a fifth part. */
  key: ResponseKey;
  snap: PublishedPackage;
  chosen: ChosenSnapRevision;
  epoch: Epoch;
  /** The whole result. */
  bytes: Buffer;
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

export const refreshResults = new ResponseCache<CachedRefreshResult>({
  maxBytes: 16 * 1024 * 1024,
  sizeOf: ({ bytes }) => bytes.length,
});

/** A result as a text, or as bytes if it is cached. */
export type ResultJson = string | Buffer;

/** Whole responses by their results, if all of these are cached: devices of one model have the same snaps. */
const refreshResponses = new ResponseCache<Buffer>({ maxBytes: 4 * 1024 * 1024, sizeOf: ({ length }) => length });

/** Joins the results to one response. If all of them come from the cache of this generation, the response is cached too. */
export function respondWithResults(results: readonly ResultJson[], generation: object): Buffer {
  if (!results.every((result) => typeof result !== 'string')) return joinResults(results);
  const responses = refreshResponses.in(generation);
  return responses.get(results) ?? responses.set(results, joinResults(results));
}

/** Joins bytes; joining and encoding long texts takes three times as long (`npm run bench -- devices`). */
export function joinResults(results: readonly ResultJson[]): Buffer {
  const pieces = results.flatMap((result) => [comma, typeof result === 'string' ? Buffer.from(result) : result]);
  return Buffer.concat([beginning, ...pieces.slice(1), end]);
}

const [beginning, comma, end] = [Buffer.from('{"results":['), Buffer.from(','), Buffer.from('],"error-list":[]}')];
