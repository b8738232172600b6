// The words of plans: what a transfer would change, and what it takes to say that.
import type {
  TransferAccount,
  TransferLibrary,
  TransferPackage,
  TransferRelease,
  TransferResource,
  TransferRevision,
} from '#api/wire.ts';
import type { Assertion } from '#assertions/assertion.ts';
import type { Picked } from '#assertions/spooled.ts';
import type { Line } from '#domain/approvals.ts';
import type { Aside, PackedList, Sequence } from '#domain/sequence.ts';
import type { ChannelRenaming } from '#domain/channel-renaming.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { TransferFinding } from '#records/transfers.ts';
import type { BelievedByName } from './assertions.ts';
import type { ForeignAccountChange } from './foreign-accounts.ts';
import type { Statement } from './transfer-statement.ts';

type Nouns =
  | 'accounts'
  | 'assertions'
  | 'charmLibraries'
  | 'images'
  | 'neededContents'
  | 'packages'
  | 'releases'
  | 'resourceRevisions'
  | 'revisions'
  | 'tracks'
  | 'transfers'
  | 'transferSources';
export type PlanRecords = Pick<Records, Nouns> | Pick<Changes, Nouns>;

/**
 * On whose word something rests: assertions that a trusted root vouches for, the source of the transfer alone, or nobody's,
 * where it lay in a folder that nobody has signed.
 */
export type Word = 'upstream' | 'source' | 'nobody';

/** One thing that a transfer changes. */
export interface PlanLine {
  /** `namespace/name`; of an assertion that is no package's, `assertion/TYPE`. */
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
    | 'assertion';
  /** What it is done to: a revision, a channel with its slot, a resource with its revision. */
  what: string;
  from: string | null;
  to: string | null;
  word: Word;
  /** The channel and the part of it that are meant, where it is a release. */
  at?: { channel: string; slot: string };
  /** What a person should see before saying yes: `downgrade`, `new publisher`, … */
  notes: string[];
}

/** Why something cannot come in. */
export interface PlanProblem {
  package: string;
  what: string;
  why: string;
}

/** Everything that is said of a package, where the source knows it. */
export type Said = Partial<
  Pick<PublishedPackage, 'title' | 'summary' | 'description' | 'license' | 'icon' | 'defaultTrack' | 'links'>
>;

/** What is to be done to one package. */
export interface PackagePlan {
  carried: TransferPackage;
  /** As it is here; undefined where it comes in with this. */
  here: PublishedPackage | undefined;
  /** Accounts of other stores that it speaks of, which are new here or called otherwise. */
  accounts: ForeignAccountChange[];
  revisions: { one: TransferRevision; isDeleted: boolean; assertion: string | undefined }[];
  tracks: string[];
  resources: { resource: TransferResource; one: TransferResource['revisions'][number] }[];
  images: TransferPackage['images'];
  /** How it is to be described. */
  said: Said;
  /** Libraries with the versions of them that come in. */
  libraries: TransferLibrary[];
  withdrawals: TransferPackage['withdrawn'];
  releases: { release: TransferRelease; before: Release | undefined }[];
  /** Progressive releases that the source has ended, which lie over slots that it fills for everybody. */
  ends: Release[];
  /** Channels that are emptied, with what they hold. */
  closes: { channel: string; held: Release[] }[];
}

/** What is long is kept packed while it grows. */
export interface Plan {
  packages: Sequence<PackagePlan>;
  /** Assertions that come in, each after what it rests on. */
  assertions: Sequence<Assertion>;
  lines: PackedList<PlanLine>;
  /** What the channels are to hold, as any other release of it is told to those who approve. */
  releases: PackedList<Line>;
  /** As long as there are any, nothing comes in, unless the package is left out. */
  problems: PlanProblem[];
  leftOut: PlanProblem[];
  /** Contents that are neither carried nor here, by their SHA3-384. */
  missing: string[];
}

export interface Planning {
  statement: Statement;
  source: Pick<TransferSource, 'packages' | 'mayRelease'>;
  /** Whether nobody has signed it. */
  isUnsigned: boolean;
  /** What a review found of a subject. */
  finding: (subject: string) => Promise<TransferFinding | undefined>;
  /** The contents of the transfer that have come, by their SHA3-384. */
  arrived: ReadonlySet<string>;
  /** What the source says of an account. */
  accountSaid: (id: string) => TransferAccount | undefined;
  /** Assertions that are believed, by name; those that are here and those that would come in. */
  believed: (name: string) => Assertion | undefined;
  /** Those of them that are not here, or older here; each after what it rests on. */
  fresh: Picked;
  /** Packages that are let in alone, and those that are left out; globs of `namespace/name`. */
  only: readonly string[];
  without: readonly string[];
  /** What is released to other channels than those that the source names. */
  asChannel: readonly ChannelRenaming[];
  /** RFC 3339. */
  at: string;
  /** Where what is long lies as long as anybody looks at it; in memory, where there is no such place. */
  aside: Aside | undefined;
}

/** What it takes to say what a transfer changes: what is said of it, and what the records have of it. */
export async function planningOf(
  { transfers }: PlanRecords,
  id: string,
  {
    believed,
    ...given
  }: Omit<Planning, 'finding' | 'arrived' | 'accountSaid' | 'believed' | 'fresh'> & {
    believed: Pick<BelievedByName<Picked>, 'find' | 'accepted'>;
  },
): Promise<Planning> {
  const accounts = new Map(given.statement.accounts.map((one) => [one.id, one]));
  return {
    ...given,
    accountSaid: (id) => accounts.get(id),
    ...{ believed: believed.find, fresh: believed.accepted },
    finding: (subject) => transfers.finding(id, subject),
    arrived: await transfers.arrived(id),
  };
}

/** The subject of a review: a revision of a package, of a resource, or a manifest by its SHA-256. */
export const subjectOf = (packageId: string, ...parts: (string | number)[]): string =>
  [packageId, ...parts.map(String)].join('/');
