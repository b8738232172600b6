// Plans the changes of a received transfer: for the preview, and again in the act that accepts it.
import type { TransferPackage, TransferRevision } from '#contract/wire.ts';
import { readForeignSnap } from '#assertions/foreign-snap.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { renameChannel } from '#domain/transfers/channel-renaming.ts';
import { isTrackName, matchesGlob } from '#domain/releases/channel.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { mapSequence, PackedList } from '#domain/sequence.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { planAccounts, type PlannedAccounts } from './kinds/accounts.ts';
import { planAssertions } from './kinds/assertions.ts';
import { planChannels, type SlotChange } from './kinds/channels.ts';
import {
  isTooHigh,
  planImages,
  planResources,
  contradictionReason,
  unvouchedNote,
  type ContentPlanReporter,
} from './kinds/resources.ts';
import {
  subjectOf,
  type PackagePlan,
  type TransferPlan,
  type TransferPlanInputs,
  type PlanLine,
  type PlanProblem,
  type PlanRecords,
  type TrustOrigin,
} from './plan-types.ts';
import type { LazyTransferStatement } from './statement.ts';
import { planDescription, planLibraries, type PackagePlanReporter } from './kinds/metadata.ts';

/** The plan of the package at index `at` of the statement. */
interface PackagePlanEntry {
  at: number;
  made: Omit<PackagePlan, 'carried'> & { carried?: undefined };
}

/** Plans each package, and collects lines for people and the problems that prevent acceptance. */
export async function planTransfer(records: PlanRecords, planning: TransferPlanInputs): Promise<TransferPlan> {
  // The package is read from the statement again, so that it is not in memory twice.
  const plans = new PackedList<PackagePlanEntry>(planning.aside);
  const packages = mapSequence(plans, ({ at, made }): PackagePlan => {
    return { ...made, carried: asReleased(planning.statement.packages.at(at)!, planning.asChannel) };
  });
  const [lines, releases] = [new PackedList<PlanLine>(planning.aside), new PackedList<ApprovalLine>(planning.aside)];
  const plan: TransferPlan = { packages, assertions: [], lines, releases, problems: [], leftOut: [], missing: [] };
  const { statement, only, without, arrived } = planning;
  refuseIdle(statement, [...only, ...without]);
  const lost = new Set(
    statement.blobs
      .values()
      .map((blob) => blob['sha3-384'])
      .filter((digest) => !arrived.has(digest)),
  );
  const accounts: PlannedAccounts = { ids: new Set(), usernames: new Set() };
  let at = -1;
  for (const sentPackage of statement.packages) {
    at += 1;
    const carried = asReleased(sentPackage, planning.asChannel);
    const called = `${carried.namespace}/${carried.name}`;
    const isWanted = (only.length === 0 || fitsGlob(only, carried)) && !fitsGlob(without, carried);
    if (!isWanted) {
      plan.leftOut.push({ package: called, what: called, why: whyLeftOut(carried, lost) });
      continue;
    }
    const made = await new PackagePlanner(records, planning, { plan, accounts }, carried).run();
    if (made !== undefined) plans.add({ at, made: { ...made, carried: undefined } });
  }
  await planAssertions(records, planning, plan);
  for (const { what: item, why: reason } of statement['left-out'])
    plan.leftOut.push({ package: item, what: item, why: `The source says: ${reason}` });
  plan.leftOut.push(...(await listMissingBases(records, statement)));
  plan.missing = [...new Set(plan.missing)];
  return plan;
}

/**
 * Refuses a glob that matches no package: it is probably a typing error, and a package meant to be left out would be
 * accepted. Globs for assertions are exempt, because the assertions may be here already and not in the plan.
 */
function refuseIdle({ packages }: LazyTransferStatement, globs: readonly string[]): void {
  const idle = new Set(globs.filter((glob) => !matchesGlob(glob.split('/', 1)[0]!, 'assertion')));
  if (idle.size === 0) return;
  for (const sentPackage of packages) for (const glob of idle) if (fitsGlob([glob], sentPackage)) idle.delete(glob);
  const [glob] = idle;
  if (glob === undefined) return;
  throw new Refusal(
    'resource-not-found',
    `Nothing in this transfer matches '${glob}'. Its preview lists the packages.`,
  );
}

/**
 * The problems of a transfer that relies on earlier transfers, if they were not accepted here: it does not repeat
 * unchanged packages.
 */
async function listMissingBases(
  { transfers }: PlanRecords,
  { source, base }: LazyTransferStatement,
): Promise<PlanProblem[]> {
  const numbers = base['rests-on'] ?? [];
  const accepted = await transfers.letIn(source, numbers);
  return numbers
    .filter((number) => !accepted.has(number))
    .map((number) => {
      const item = `number ${String(number)} of ${source}`;
      const reason =
        'This transfer leaves out packages that have not changed since that one, and that one was not accepted here.';
      return { package: item, what: item, why: reason };
    });
}

/** Renames the channels of a package to the channels that it is released to here. */
const asReleased = (carried: TransferPackage, asChannel: TransferPlanInputs['asChannel']): TransferPackage =>
  asChannel.length === 0
    ? carried
    : {
        ...carried,
        channels: carried.channels.map((release) => ({
          ...release,
          channel: renameChannel(release.channel, asChannel),
        })),
        closed: [...new Set(carried.closed.map((channelName) => renameChannel(channelName, asChannel)))],
      };

/** Why the administrator left a package out. A scanner on the way may have removed some of its files. */
function whyLeftOut({ revisions }: TransferPackage, lost: ReadonlySet<string>): string {
  const gone = revisions.filter(({ content }) => lost.has(content['sha3-384'])).map(({ revision }) => String(revision));
  const lostNote = gone.length === 0 ? '' : ` The content of revision ${gone.join(', ')} did not arrive.`;
  return `The administrator left it out.${lostNote}`;
}

/** Plans one package of a transfer. */
class PackagePlanner {
  readonly #records: PlanRecords;
  readonly #planning: TransferPlanInputs;
  readonly #plan: TransferPlan;
  readonly #carried: TransferPackage;
  readonly #called: string;
  readonly #accounts: PlannedAccounts;

  constructor(
    records: PlanRecords,
    planning: TransferPlanInputs,
    { plan, accounts }: { plan: TransferPlan; accounts: PlannedAccounts },
    carried: TransferPackage,
  ) {
    this.#records = records;
    this.#planning = planning;
    this.#plan = plan;
    this.#accounts = accounts;
    this.#carried = carried;
    this.#called = `${carried.namespace}/${carried.name}`;
  }

  /** Returns the plan of the package; undefined if the whole package is left out. */
  async run(): Promise<PackagePlan | undefined> {
    if (!fitsGlob(this.#planning.source.packages, this.#carried)) {
      this.#problem(
        this.#called,
        `'${this.#planning.statement.source}' may bring ${this.#planning.source.packages.join(', ')}, and not this.`,
      );
      return undefined;
    }
    const existing = await this.#place();
    if (existing === 'refused') return undefined;
    const made: PackagePlan = {
      carried: this.#carried,
      existing,
      revisions: [],
      tracks: [],
      resources: [],
      images: [],
      metadata: {},
      libraries: [],
      accounts: [],
      withdrawals: [],
      releases: [],
      ends: [],
      closes: [],
    };
    if (existing === undefined) await this.#newPackage();
    else await this.#publisher(existing);
    await this.#tracks(made);
    await this.#revisions(made);
    const reporter = this.#telling();
    const contents = { ...reporter, ...this.#contents() };
    await planResources({ records: this.#records, planning: this.#planning, made, reporter: contents });
    await planImages({ records: this.#records, made, reporter: contents });
    await planDescription(this.#records, made, reporter);
    await planLibraries(this.#records, made, reporter);
    await this.#withdrawals(made);
    const channels = {
      line: (line: SlotChange) => {
        this.#line({ ...line, kind: line.to === null ? 'close' : 'release' });
      },
      problem: (item: string, reason: string) => {
        this.#problem(item, reason);
      },
    };
    for (const line of await planChannels(this.#records, this.#planning, made, channels)) this.#plan.releases.add(line);
    await planAccounts(this.#records, this.#planning, { made, planned: this.#accounts }, reporter);
    return made;
  }

  /**
   * Returns the package of this store; undefined if it is new here. Refused if its name or id belongs to another
   * package, or if an account of this store publishes it.
   */
  async #place(): Promise<PublishedPackage | undefined | 'refused'> {
    const { id, namespace, name, publisher } = this.#carried;
    const { packages, accounts } = this.#records;
    const [packageByName, packageById] = [await packages.find(namespace, name), await packages.byId(id)];
    if (packageByName !== undefined && packageByName.id !== id) {
      return this.#problem(
        this.#called,
        `The name is registered here for ${packageByName.publisher.username}, with the id '${packageByName.id}', not '${id}'.`,
      );
    }
    if (packageById !== undefined && (packageById.namespace !== namespace || packageById.name !== name)) {
      return this.#problem(
        this.#called,
        `The id '${id}' belongs to ${packageById.namespace}/${packageById.name} here.`,
      );
    }
    if (
      packageById !== undefined &&
      packageById.publisherId !== publisher &&
      !(await accounts.isForeign(packageById.publisherId))
    ) {
      return this.#problem(
        this.#called,
        `It is published here by ${packageById.publisher.username}, but at its source by '${publisher}'.`,
      );
    }
    return packageById;
  }

  async #newPackage(): Promise<void> {
    const { publisher } = this.#carried;
    const { accounts } = this.#records;
    const account = await accounts.find(publisher);
    const notes =
      account === undefined
        ? ['new publisher']
        : (await accounts.isForeign(publisher))
          ? []
          : ['its publisher is an account of this site'];
    const to = `published by ${publisher}${this.#carried.private ? ', private' : ''}`;
    this.#line({ kind: 'package', what: this.#called, from: null, to, notes });
  }

  /**
   * Adds a line if the package has another publisher at its source, with a note if that account is one of this site: it
   * can then push to the package.
   */
  async #publisher({ publisherId, publisher }: PublishedPackage): Promise<void> {
    const { publisher: id } = this.#carried;
    if (publisherId === id) return;
    const { accounts } = this.#records;
    const isLocal = (await accounts.find(id)) !== undefined && !(await accounts.isForeign(id));
    const notes = isLocal ? ['its publisher becomes an account of this site'] : [];
    const from = `${publisher.username} (${publisherId})`;
    const name = (await accounts.find(id))?.username ?? this.#planning.accountSaid(id)?.username ?? id;
    this.#line({ kind: 'publisher', what: 'publisher', from, to: `${name} (${id})`, notes });
  }

  async #tracks(made: PackagePlan): Promise<void> {
    const { id, tracks } = this.#carried;
    const trackNames = new Set((await this.#records.tracks.list(id)).map(({ name }) => name).concat('latest'));
    for (const name of tracks.filter((trackName) => !isTrackName(trackName)))
      this.#problem(`track ${name}`, 'This is not a valid track name.');
    made.tracks = tracks.filter((name) => !trackNames.has(name) && isTrackName(name));
    for (const track of made.tracks) this.#line({ kind: 'track', what: track, from: null, to: 'new', notes: [] });
  }

  async #revisions(made: PackagePlan): Promise<void> {
    const { id, name, revisions } = this.#carried;
    const newest = await this.#records.revisions.newest(id);
    for (const sentRevision of revisions) {
      const item = `revision ${String(sentRevision.revision)}`;
      const numbered = await this.#records.revisions.numbered(id, sentRevision.revision);
      if (numbered !== undefined && numbered.sha3_384 !== sentRevision.content['sha3-384']) {
        this.#problem(item, 'It is stored here with other content, so it cannot be accepted.');
        continue;
      }
      if (numbered !== undefined && numbered.deletedAt === null) continue;
      if (isTooHigh(sentRevision, item, this.#telling())) continue;
      const twin =
        numbered === undefined
          ? await this.#records.revisions.withContent(id, sentRevision.content['sha3-384'])
          : undefined;
      if (twin !== undefined) {
        this.#problem(item, `The same content is stored here as revision ${String(twin.revision)}.`);
        continue;
      }
      if (!(await this.#isThere(item, sentRevision.content['sha3-384']))) continue;
      if (!(await this.#isGood(subjectOf(id, sentRevision.revision), item))) continue;
      const vouched = this.#vouchedFor(sentRevision, item);
      if (vouched === 'refused') continue;
      const notes = [
        ...(numbered === undefined && newest > sentRevision.revision
          ? [`older than revision ${String(newest)}, which is here`]
          : []),
        ...(numbered === undefined ? [] : ['was deleted, and comes back']),
        ...(this.#carried.namespace === 'snap' && vouched.assertion === undefined ? [unvouchedNote] : []),
      ];
      made.revisions.push({ sentRevision, isDeleted: numbered !== undefined, assertion: vouched.assertion });
      this.#line(
        { kind: 'revision', what: item, from: null, to: sentRevision.version ?? name, notes },
        vouched.assertion === undefined ? this.#word : 'upstream',
      );
    }
  }

  /**
   * The believed assertion about a revision, if there is one. Refuses the revision if the assertion contradicts the
   * transfer.
   */
  #vouchedFor(sentRevision: TransferRevision, item: string): { assertion: string | undefined } | 'refused' {
    if (sentRevision.assertion === undefined) return { assertion: undefined };
    const assertion = this.#planning.believed(sentRevision.assertion);
    if (assertion?.type !== 'snap-revision') return { assertion: undefined };
    try {
      const assertedSnap = readForeignSnap(assertion, this.#planning.believed);
      const { id, name, publisher } = this.#carried;
      const isSame =
        assertedSnap.id === id &&
        assertedSnap.name === name &&
        assertedSnap.publisher.id === publisher &&
        assertedSnap.revision === sentRevision.revision &&
        assertedSnap.sha3_384 === sentRevision.content['sha3-384'] &&
        assertedSnap.size === sentRevision.content.size;
      return isSame ? { assertion: sentRevision.assertion } : this.#problem(item, contradictionReason);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#problem(item, error.message);
    }
  }

  async #withdrawals(made: PackagePlan): Promise<void> {
    const { id, withdrawn } = this.#carried;
    for (const withdrawal of withdrawn) {
      const item = `revision ${String(withdrawal.revision)}`;
      const numbered = await this.#records.revisions.numbered(id, withdrawal.revision);
      if (numbered === undefined || numbered.withdrawnBecause !== null) continue;
      // A source without permission to release must not empty channels either.
      const holding = this.#planning.source.mayRelease
        ? []
        : await this.#records.releases.holding(id, withdrawal.revision, this.#planning.at);
      if (holding.length > 0) {
        const channels = [...new Set(holding.map(({ channel }) => channel))].join(', ');
        this.#kept(
          item,
          `It is withdrawn at its source (${withdrawal.why}). This source may not change channels, and ${channels} hold it here.`,
        );
        continue;
      }
      made.withdrawals.push(withdrawal);
      this.#line({
        kind: 'withdrawal',
        what: item,
        from: 'in use',
        to: 'withdrawn',
        notes: [withdrawal.why],
      });
    }
  }

  #kept(item: string, reason: string): void {
    this.#plan.leftOut.push({ package: this.#called, what: `${this.#called} ${item}`, why: reason });
  }

  #telling(): PackagePlanReporter {
    return {
      line: (line, word) => {
        this.#line(line, word);
      },
      problem: (item, reason) => {
        this.#problem(item, reason);
      },
      unchanged: (item, reason) => {
        this.#kept(item, reason);
      },
      isGood: async (subject, item, sha3_384) =>
        (await this.#isThere(item, sha3_384)) && (await this.#isGood(subject, item)),
      whyNot: async (subject, sha3_384) =>
        (await this.#isHeld(sha3_384)) ? this.#whyBad(subject) : 'Its content is neither in the transfer nor here.',
    };
  }

  #contents(): Pick<ContentPlanReporter, 'isThere' | 'isGood'> {
    return {
      isThere: (item, sha3_384) => this.#isThere(item, sha3_384),
      isGood: (subject, item) => this.#isGood(subject, item),
    };
  }

  async #isHeld(sha3_384: string): Promise<boolean> {
    return this.#planning.arrived.has(sha3_384) || (await this.#records.neededContents.has(sha3_384));
  }

  async #isThere(item: string, sha3_384: string): Promise<boolean> {
    if (await this.#isHeld(sha3_384)) return true;
    this.#plan.missing.push(sha3_384);
    this.#problem(item, 'Its content is neither in the transfer nor here.');
    return false;
  }

  async #isGood(subject: string, item: string): Promise<boolean> {
    const reason = await this.#whyBad(subject);
    if (reason !== undefined) this.#problem(item, reason);
    return reason === undefined;
  }

  async #whyBad(subject: string): Promise<string | undefined> {
    const finding = await this.#planning.finding(subject);
    return (finding?.findings ?? null) === null ? (finding?.refused ?? 'It has not been reviewed yet.') : undefined;
  }

  /** The origin of trust for content that no assertion covers. */
  get #word(): TrustOrigin {
    return this.#planning.isUnsigned ? 'nobody' : 'source';
  }

  #line(line: Omit<PlanLine, 'package' | 'word'>, word = this.#word): void {
    this.#plan.lines.add({ package: this.#called, ...line, word });
  }

  #problem(item: string, reason: string): 'refused' {
    this.#plan.problems.push({ package: this.#called, what: item, why: reason });
    return 'refused';
  }
}

/** The lines for approvers: the parts of the transfer, and each channel change in the form of any other release. */
export const approvalLines = ({ lines, releases }: Pick<TransferPlan, 'lines' | 'releases'>): ApprovalLine[] => [
  ...lines.values().map(({ package: called, what: item, from, to }) => {
    return { kind: 'transfers' as const, on: `${called} ${item}`, part: null, from, to };
  }),
  ...releases,
];
