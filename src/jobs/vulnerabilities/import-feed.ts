// Imports a feed: stores its file, makes its index, and does the act that puts it in force. A feed that is refused leaves
// the previous one as it is.
import type { Actor, Acts } from '#acts/act.ts';
import { importFeed } from '#acts/vulnerabilities/feeds.ts';
import { withFile, type Blobs, type Chunks } from '#blobs/blobs.ts';
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

export interface FeedImportRequest {
  content: AsyncIterable<Chunks>;
  /** Bytes. */
  size: number;
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

export async function importFeedContent(
  means: FeedImportContext,
  request: FeedImportRequest,
): Promise<FeedImportResult> {
  const { records, acts, blobs, newId, now, signal } = means;
  const { content, size, actor, mayBeSmaller, skipsInvalid, acceptsStatements } = request;
  refuseLarge(size);
  const received = await blobs.receive(content, { id: newId.uuid(), limit: maxFeedBytes, expected: size });
  const indexed = await withFile(blobs, received.sha3_384, (file) =>
    orRefusal(() => indexFeed(file, { records, sha3_384: received.sha3_384, now, signal, skipsInvalid })),
  );
  const { problems, ...properties } = indexed.content;
  const source = request.source ?? properties.source;
  const present = await records.vulnerabilityFeeds.find(source);
  const { sha256, sha3_384 } = received;
  try {
    if (!acceptsStatements && properties.format === 'openvex') throw needsPerson();
    await acts.do(importFeed, actor, {
      ...properties,
      source,
      sha256,
      sha3_384,
      size: received.size,
      index: indexed.index,
      mayBeSmaller,
    });
  } finally {
    const inForce = await records.feedIndexes.inForce();
    if (!inForce.some(({ id }) => id === indexed.index)) await removeIndex(records, indexed.index);
  }
  const feed = (await records.vulnerabilityFeeds.find(source))!;
  return { feed, problems, isPresent: present?.sha3_384 === sha3_384 && present.skipped === feed.skipped };
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

/** A feed that cannot be read is refused with the reason. */
export async function orRefusal<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    throw withCause(error, new Refusal('api-error', `${error.message} No feed was changed.`));
  }
}
