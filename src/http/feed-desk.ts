// The interface of feeds that people upload at pages. The appliance implements it and passes it in.
import type { Actor } from '#acts/act.ts';
import type { UnclaimedUpload } from '#records/uploads/unclaimed-uploads.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';

export interface FeedChoices {
  /** The name of the feed; undefined for the name that follows from its content. */
  source: string | undefined;
  /** Whether to leave out invalid entries. */
  skipsInvalid: boolean;
}

/** An uploaded feed that was read. Its complete index is in the store for some hours. */
export interface UploadedFeed {
  feed: Omit<VulnerabilityFeed, 'importedAt' | 'importedBy'>;
  /** Problems of entries that were left out, at most ten. */
  problems: readonly string[];
}

export interface FeedDesk {
  /**
   * Reads the feed in an unclaimed upload, like `larder feed import --dry-run`. Returns undefined after a few seconds; a later call has
   * the result. Refuses a file that is no valid feed.
   */
  read(
    upload: Pick<UnclaimedUpload, 'id' | 'sha3_384'>,
    choices: FeedChoices,
    actor: Actor,
  ): Promise<UploadedFeed | undefined>;
}
