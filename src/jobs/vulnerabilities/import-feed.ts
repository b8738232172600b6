// Imports a feed: stores its file, makes its index, and does the act that puts it in force. A feed that is refused leaves
// the previous one as it is.
import type { Actor, Acts } from '#acts/act.ts';
import { importFeed, isSameFeed } from '#acts/vulnerabilities/feeds.ts';
import { withFile, type Blobs, type Chunks, type ReceivedBlob } from '#blobs/blobs.ts';
import type { Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal, withCause } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import { maxFeedBytes } from '#review/feeds/feed-file.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { indexFeed, removeIndex } from '#review/feeds/index-feed.ts';

export interface FeedImportContext {
  records: StoreRecords;
  acts: Acts;
  blobs: Pick<Blobs, 'receive' | 'makeLocalCopy'>;
  newId: Pick<NewIds, 'uuid'>;
  now: Now;
  signal: AbortSignal;
}

export interface FeedFile {
  content: AsyncIterable<Chunks>;
  /** Bytes. */
  size: number;
}

export interface FeedImportRequest {
  actor: Actor;
  /** The name of the feed; undefined for the name that follows from its content. */
  source?: string | undefined;
  mayBeSmaller: boolean;
  skipsInvalid: boolean;
  /** Whether statements of OpenVEX are accepted: they can end findings. */
  acceptsStatements: boolean;
}

export interface FeedImportResult {
  feed: VulnerabilityFeed;
  /** Problems of entries that were left out, at most ten. */
  problems: string[];
  /** Whether the feed was present already. */
  isPresent: boolean;
}

/** A feed that was read from a file in the store. It is not in force. */
export interface StoredFeed {
  feed: Omit<VulnerabilityFeed, 'importedAt' | 'importedBy'>;
  /** Problems of entries that were left out, at most ten. */
  problems: string[];
  /** The complete index of its content. */
  index: number;
}

/** Receives the file of a feed. */
export function receiveFeed(
  { blobs, newId }: Pick<FeedImportContext, 'blobs' | 'newId'>,
  { content, size }: FeedFile,
): Promise<ReceivedBlob> {
  refuseLarge(size);
  return blobs.receive(content, { id: newId.uuid(), limit: maxFeedBytes, expected: size });
}

/** Reads a feed from a file in the store, and makes its index. */
export async function readStoredFeed(
  { records, blobs, now, signal }: Omit<FeedImportContext, 'acts' | 'newId'>,
  { size, sha256, sha3_384 }: ReceivedBlob,
  { source, skipsInvalid }: Pick<FeedImportRequest, 'source' | 'skipsInvalid'>,
): Promise<StoredFeed> {
  refuseLarge(size);
  const { index, content } = await withFile(blobs, sha3_384, (file) =>
    indexFeed(file, { records, sha3_384, now, signal, skipsInvalid }).catch((error: unknown) => {
      throw toFeedRefusal(error);
    }),
  );
  const { problems, ...properties } = content;
  return { feed: { ...properties, source: source ?? properties.source, sha256, sha3_384, size }, problems, index };
}

/** Imports a feed from a file in the store. */
export async function importStoredFeed(
  means: FeedImportContext,
  stored: ReceivedBlob,
  request: FeedImportRequest,
): Promise<FeedImportResult> {
  const { records, acts } = means;
  const { actor, mayBeSmaller, acceptsStatements } = request;
  const { feed, problems, index } = await readStoredFeed(means, stored, request);
  const present = await records.vulnerabilityFeeds.find(feed.source);
  try {
    if (!acceptsStatements && feed.format === 'openvex') throw needsPerson();
    await acts.do(importFeed, actor, { ...feed, index, mayBeSmaller });
  } finally {
    const inForce = await records.feedIndexes.inForce();
    if (!inForce.some(({ id }) => id === index)) await removeIndex(records, index);
  }
  const imported = (await records.vulnerabilityFeeds.find(feed.source))!;
  return { feed: imported, problems, isPresent: isSameFeed(imported, present) };
}

function refuseLarge(size: number): void {
  if (size > maxFeedBytes)
    throw new Refusal(
      'request-too-large',
      `The feed has ${String(size)} bytes, but at most ${String(maxFeedBytes)} are read: split it by distribution.`,
    );
}

const needsPerson = (): Refusal =>
  new Refusal(
    'forbidden',
    "Statements of OpenVEX can end findings, so a person imports them: with 'larder feed import'.",
  );

/** The refusal of a feed that cannot be read; any other error stays. */
export const toFeedRefusal = (error: unknown): unknown =>
  error instanceof Unacceptable
    ? withCause(error, new Refusal('api-error', `${error.message} No feed was changed.`))
    : error;
