// The types of the plan of a transfer, and the inputs that planning needs.
import type {
  TransferAccount,
  TransferLibrary,
  TransferPackage,
  TransferRelease,
  TransferResource,
  TransferRevision,
} from '#contract/wire.ts';
import type { Assertion } from '#assertions/format/assertion.ts';
import type { AssertionSelection } from '#assertions/spilled-assertions.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import type { SpillStorage, PackedList, Sequence } from '#domain/sequence.ts';
import type { ChannelRenaming } from '#domain/transfers/channel-renaming.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { LarderRelease, LarderReleaseFile } from '#records/store/larder-releases.ts';
import type { TransferFinding } from '#records/transfers/transfers.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import type { VerifiedAssertionsByName } from '../assertions/assertions.ts';
import type { FleetChange } from '../fleets/fleet-change.ts';
import type { ForeignAccountChange } from '../accounts/foreign-accounts.ts';
import type { LazyTransferStatement } from './statement.ts';

type Nouns =
  | 'accounts'
  | 'assertions'
  | 'charmLibraries'
  | 'fleets'
  | 'images'
  | 'larderReleases'
  | 'neededContents'
  | 'packages'
  | 'releases'
  | 'resourceRevisions'
  | 'revisions'
  | 'tracks'
  | 'transfers'
  | 'transferSources'
  | 'vulnerabilityFeeds';
export type PlanRecords = Pick<StoreRecords, Nouns> | Pick<ChangeRecords, Nouns>;

/**
 * The origin of trust: assertions vouched for by a trusted root, the source of the transfer alone, or `nobody` for an
 * unsigned folder.
 */
export type TrustOrigin = 'upstream' | 'source' | 'nobody';

/** One change of a transfer. */
export interface PlanLine {
  /** `namespace/name`, or `assertion/TYPE` for an assertion that belongs to no package. */
  package: string;
  kind:
    | 'package'
    | 'publisher'
    | 'account'
    | 'track'
    | 'revision'
    | 'resource'
    | 'image'
    | 'metadata'
    | 'library'
    | 'withdrawal'
    | 'release'
    | 'close'
    | 'assertion'
    | 'feed'
    | 'fleet'
    | 'larder-release';
  /** The object of the change: a revision, a channel with its slot, or a resource with its revision. */
  what: string;
  from: string | null;
  to: string | null;
  word: TrustOrigin;
  /** The remarks that a person should see before accepting: `downgrade`, `new publisher`, … */
  notes: string[];
}

/** Why something cannot be accepted. */
export interface PlanProblem {
  package: string;
  what: string;
  why: string;
}

/** The metadata of a package, as far as the source has it. */
export type TransferMetadata = Partial<
  Pick<PublishedPackage, 'title' | 'summary' | 'description' | 'license' | 'icon' | 'defaultTrack' | 'links'>
>;

/** The changes to one package. */
export interface PackagePlan {
  carried: TransferPackage;
  /** The package of this store; undefined if the transfer adds it. */
  existing: PublishedPackage | undefined;
  /** Accounts of other stores that the package refers to and that are new or changed here. */
  accounts: ForeignAccountChange[];
  revisions: { sentRevision: TransferRevision; isDeleted: boolean; assertion: string | undefined }[];
  tracks: string[];
  resources: { resource: TransferResource; sentRevision: TransferResource['revisions'][number] }[];
  images: TransferPackage['images'];
  /** The new metadata. */
  metadata: TransferMetadata;
  /** Libraries with their new versions. */
  libraries: TransferLibrary[];
  withdrawals: TransferPackage['withdrawn'];
  releases: { release: TransferRelease; before: Release | undefined }[];
  /** Progressive releases that the source has ended, over slots that it fills for all devices. */
  ends: Release[];
  /** Channels to close, with their content. */
  closes: { channel: string; held: Release[] }[];
}

/** A feed of advisories to accept. */
export type PlannedFeed = Omit<VulnerabilityFeed, 'importedAt' | 'importedBy'>;

/**
 * The verdict on a release of larder in a transfer: its signed manifest matches its files, and the keys of this program have signed it; or
 * the reason why it is not trusted.
 */
export type LarderReleaseVerdict =
  | {
      /** The SHA-256 of the manifest. */
      manifest: string;
      installed: string;
      isNewer: boolean;
    }
  | { refused: string };

/** A release of larder to keep. */
export interface PlannedLarderRelease {
  release: Omit<LarderRelease, 'acceptedAt' | 'acceptedBy'>;
  files: LarderReleaseFile[];
}

/** A plan. Its long lists are packed while they grow. */
export interface TransferPlan {
  packages: Sequence<PackagePlan>;
  /** The assertions to accept, prerequisites first. */
  assertions: Sequence<Assertion>;
  /** The feeds of advisories to accept. */
  feeds: PlannedFeed[];
  /** The changes of fleets to make. */
  fleets: FleetChange[];
  larderReleases: PlannedLarderRelease[];
  lines: PackedList<PlanLine>;
  /** The new content of the channels, as lines for approvers in the form of any other release; and the new feeds. */
  releases: PackedList<ApprovalLine>;
  /** While there are any, the transfer is refused, unless the package is left out. */
  problems: PlanProblem[];
  leftOut: PlanProblem[];
  /** The SHA3-384 digests of contents that are neither in the transfer nor here. */
  missing: string[];
  /** Reads the findings of the review of a subject. */
  finding: (subject: string) => Promise<TransferFinding | undefined>;
}

/** The part of a transfer to accept. */
export interface TransferSelection {
  /** The packages to accept, and those to leave out: globs of `namespace/name`. */
  only: readonly string[];
  without: readonly string[];
  /** Channels to release to instead of the channels that the source names. */
  asChannel: readonly ChannelRenaming[];
  /** Whether releases of larder may be as old as the installed one, or older. */
  mayBeOlder?: boolean;
}

export const wholeTransfer: TransferSelection = { only: [], without: [], asChannel: [] };

/** Whether the selection includes a package, or an assertion as `assertion/TYPE`. */
export const isSelected = (
  { only, without }: Pick<TransferSelection, 'only' | 'without'>,
  subject: Parameters<typeof fitsGlob>[1],
): boolean => (only.length === 0 || fitsGlob(only, subject)) && !fitsGlob(without, subject);

/** Why a part of a transfer is not in its plan. A problem prevents the acceptance of the transfer. */
export interface PlanExclusion {
  reason: string;
  isProblem: boolean;
}

/** Returns why a part may not come in, by the trust in its source and the selection; undefined if it may. */
export function findExclusion(
  { source, statement, ...selection }: Pick<TransferPlanRequest, 'source' | 'statement' | 'only' | 'without'>,
  subject: Parameters<typeof fitsGlob>[1],
): PlanExclusion | undefined {
  if (!fitsGlob(source.packages, subject))
    return { reason: `'${statement.source}' may bring ${source.packages.join(', ')}.`, isProblem: true };
  return isSelected(selection, subject) ? undefined : { reason: 'The administrator left it out.', isProblem: false };
}

export interface TransferPlanRequest extends TransferSelection {
  id: string;
  statement: LazyTransferStatement;
  source: Pick<TransferSource, 'packages' | 'mayRelease'>;
  /** Whether the transfer is unsigned. */
  isUnsigned: boolean;
  /** The verified assertions: `find` finds all; `accepted` has only assertions that are missing or older in this store, prerequisites first. */
  believed: Pick<VerifiedAssertionsByName<AssertionSelection>, 'find' | 'accepted'>;
  /** The verdicts on its releases of larder, by version. */
  larderReleases: ReadonlyMap<string, LarderReleaseVerdict>;
  /** RFC 3339. */
  at: string;
  /** Storage for spill files: the long lists of the plan are written to it. If undefined, they stay in memory. */
  aside?: SpillStorage | undefined;
}

export interface TransferPlanInputs extends TransferPlanRequest, Pick<TransferPlan, 'finding'> {
  /** The SHA3-384 digests of the received contents of the transfer. */
  arrived: ReadonlySet<string>;
  /** The properties of an account as stated by the source. */
  accountSaid: (id: string) => TransferAccount | undefined;
}
