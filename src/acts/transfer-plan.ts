// Plans the changes of a received transfer: for the preview, and again in the act that accepts it.
import type { TransferPackage, TransferRevision } from '#api/wire.ts';
import { carriedSnap } from '#assertions/carried-snap.ts';
import type { Line } from '#domain/approvals.ts';
import { renamed } from '#domain/channel-renaming.ts';
import { isTrackName, matchesGlob } from '#domain/channel.ts';
import { fitsGlob } from '#domain/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { mapped, PackedList } from '#domain/sequence.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { planAccounts, type PlannedAccounts } from './transfer-accounts.ts';
import { planAssertions } from './transfer-assertions.ts';
import { planChannels, type SlotChange } from './transfer-channels.ts';
import {
  isTooHigh,
  planImages,
  planResources,
  saidOtherwise,
  unvouched,
  type ContentTelling,
} from './transfer-contents.ts';
import {
  subjectOf,
  type PackagePlan,
  type Plan,
  type Planning,
  type PlanLine,
  type PlanProblem,
  type PlanRecords,
  type Word,
} from './transfer-planning.ts';
import type { Statement } from './transfer-statement.ts';
import { planDescription, planLibraries, type Telling } from './transfer-texts.ts';

/** The plan of the package at index `at` of the statement. */
interface Planned {
  at: number;
  made: Omit<PackagePlan, 'carried'>;
}

/** Plans each package, and collects lines for people and the problems that prevent acceptance. */
export async function planOf(records: PlanRecords, planning: Planning): Promise<Plan> {
  // The package is read from the statement again, so that it is not in memory twice.
  const plans = new PackedList<Planned>(planning.aside);
  const packages = mapped(plans, ({ at, made }): PackagePlan => {
    return { ...made, carried: asReleased(planning.statement.packages.at(at)!, planning.asChannel) };
  });
  const [lines, releases] = [new PackedList<PlanLine>(planning.aside), new PackedList<Line>(planning.aside)];
  const plan: Plan = { packages, assertions: [], lines, releases, problems: [], leftOut: [], missing: [] };
  const { statement, only, without, arrived } = planning;
  refuseIdle(statement, [...only, ...without]);
  const lost = new Set(
    statement.blobs
      .values()
      .map((blob) => blob['sha3-384'])
      .filter((one) => !arrived.has(one)),
  );
  const accounts: PlannedAccounts = { ids: new Set(), usernames: new Set() };
  let at = -1;
  for (const said of statement.packages) {
    at += 1;
    const carried = asReleased(said, planning.asChannel);
    const called = `${carried.namespace}/${carried.name}`;
    const isWanted = (only.length === 0 || fitsGlob(only, carried)) && !fitsGlob(without, carried);
    if (!isWanted) {
      plan.leftOut.push({ package: called, what: called, why: whyLeftOut(carried, lost) });
      continue;
    }
    const made = await new PackagePlanning(records, planning, { plan, accounts }, carried).run();
    if (made !== undefined) plans.add({ at, made: { ...made, ...{ carried: undefined } } });
  }
  await planAssertions(records, planning, plan);
  for (const { what, why } of statement['left-out'])
    plan.leftOut.push({ package: what, what, why: `The source says: ${why}` });
  plan.leftOut.push(...(await restingOnMissing(records, statement)));
  plan.missing = [...new Set(plan.missing)];
  return plan;
}

/**
 * Refuses a glob that matches no package: it is probably a typing error, and a package meant to be left out would be
 * accepted. Globs for assertions are exempt, because the assertions may be here already and not in the plan.
 */
function refuseIdle({ packages }: Statement, globs: readonly string[]): void {
  const idle = new Set(globs.filter((glob) => !matchesGlob(glob.split('/', 1)[0]!, 'assertion')));
  if (idle.size === 0) return;
  for (const one of packages) for (const glob of idle) if (fitsGlob([glob], one)) idle.delete(glob);
  const [glob] = idle;
  if (glob === undefined) return;
  throw new Refusal('resource-not-found', `Nothing in this transfer is called '${glob}'; its preview names what is.`);
}

/**
 * The problems of a transfer that relies on earlier transfers, if they were not accepted here: it does not repeat
 * unchanged packages.
 */
async function restingOnMissing({ transfers }: PlanRecords, { source, base }: Statement): Promise<PlanProblem[]> {
  const numbers = base['rests-on'] ?? [];
  const here = await transfers.letIn(source, numbers);
  return numbers
    .filter((number) => !here.has(number))
    .map((number) => {
      const what = `number ${String(number)} of ${source}`;
      const why = 'What it told of packages has not changed since, and is not told again; it was not let in here.';
      return { package: what, what, why };
    });
}

/** Renames the channels of a package to the channels that it is released to here. */
const asReleased = (carried: TransferPackage, asChannel: Planning['asChannel']): TransferPackage =>
  asChannel.length === 0
    ? carried
    : {
        ...carried,
        channels: carried.channels.map((one) => ({ ...one, channel: renamed(one.channel, asChannel) })),
        closed: [...new Set(carried.closed.map((one) => renamed(one, asChannel)))],
      };

/** Why the administrator left a package out. A scanner on the way may have removed some of its files. */
function whyLeftOut({ revisions }: TransferPackage, lost: ReadonlySet<string>): string {
  const gone = revisions.filter(({ content }) => lost.has(content['sha3-384'])).map(({ revision }) => String(revision));
  const said = gone.length === 0 ? '' : ` What was carried as revision ${gone.join(', ')} did not come.`;
  return `It was left out by whoever let the transfer in.${said}`;
}

/** Plans one package of a transfer. */
class PackagePlanning {
  readonly #records: PlanRecords;
  readonly #planning: Planning;
  readonly #plan: Plan;
  readonly #carried: TransferPackage;
  readonly #called: string;
  readonly #accounts: PlannedAccounts;

  constructor(
    records: PlanRecords,
    planning: Planning,
    { plan, accounts }: { plan: Plan; accounts: PlannedAccounts },
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
    const here = await this.#place();
    if (here === 'refused') return undefined;
    const made: PackagePlan = {
      ...{ carried: this.#carried, here, revisions: [], tracks: [], resources: [], images: [] },
      ...{ said: {}, libraries: [], accounts: [] },
      ...{ withdrawals: [], releases: [], ends: [], closes: [] },
    };
    if (here === undefined) await this.#newPackage();
    else await this.#publisher(here);
    await this.#tracks(made);
    await this.#revisions(made);
    const telling = this.#telling();
    const contents = { ...telling, ...this.#contents() };
    await planResources({ records: this.#records, planning: this.#planning, made, telling: contents });
    await planImages({ records: this.#records, made, telling: contents });
    await planDescription(this.#records, made, telling);
    await planLibraries(this.#records, made, telling);
    await this.#withdrawals(made);
    const channels = {
      line: (line: SlotChange) => {
        this.#line({ ...line, kind: line.to === null ? 'close' : 'release' });
      },
      problem: (what: string, why: string) => {
        this.#problem(what, why);
      },
    };
    for (const line of await planChannels(this.#records, this.#planning, made, channels)) this.#plan.releases.add(line);
    await planAccounts(this.#records, this.#planning, { made, planned: this.#accounts }, telling);
    return made;
  }

  /**
   * Returns the package of this store; undefined if it is new here. Refused if its name or id belongs to another
   * package, or if an account of this store publishes it.
   */
  async #place(): Promise<PublishedPackage | undefined | 'refused'> {
    const { id, namespace, name, publisher } = this.#carried;
    const { packages, accounts } = this.#records;
    const [named, known] = [await packages.find(namespace, name), await packages.byId(id)];
    if (named !== undefined && named.id !== id) {
      return this.#problem(
        this.#called,
        `The name is registered here for ${named.publisher.username}, with the id '${named.id}' and not '${id}'.`,
      );
    }
    if (known !== undefined && (known.namespace !== namespace || known.name !== name)) {
      return this.#problem(this.#called, `The id '${id}' is that of ${known.namespace}/${known.name} here.`);
    }
    if (known !== undefined && known.publisherId !== publisher && !(await accounts.isForeign(known.publisherId))) {
      return this.#problem(
        this.#called,
        `It is published here by ${known.publisher.username}, and there by '${publisher}'.`,
      );
    }
    return known;
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
    const known = new Set((await this.#records.tracks.list(id)).map(({ name }) => name).concat('latest'));
    for (const name of tracks.filter((one) => !isTrackName(one)))
      this.#problem(`track ${name}`, 'No track has such a name.');
    made.tracks = tracks.filter((name) => !known.has(name) && isTrackName(name));
    for (const track of made.tracks) this.#line({ kind: 'track', what: track, from: null, to: 'new', notes: [] });
  }

  async #revisions(made: PackagePlan): Promise<void> {
    const { id, name, revisions } = this.#carried;
    const newest = await this.#records.revisions.newest(id);
    for (const one of revisions) {
      const what = `revision ${String(one.revision)}`;
      const numbered = await this.#records.revisions.numbered(id, one.revision);
      if (numbered !== undefined && numbered.sha3_384 !== one.content['sha3-384']) {
        this.#problem(what, 'It is here with other content, and stays as it is.');
        continue;
      }
      if (numbered !== undefined && numbered.deletedAt === null) continue;
      if (isTooHigh(one, what, this.#telling())) continue;
      const twin =
        numbered === undefined ? await this.#records.revisions.withContent(id, one.content['sha3-384']) : undefined;
      if (twin !== undefined) {
        this.#problem(what, `The same content is here as revision ${String(twin.revision)}.`);
        continue;
      }
      if (!(await this.#isThere(what, one.content['sha3-384']))) continue;
      if (!(await this.#isGood(subjectOf(id, one.revision), what))) continue;
      const vouched = this.#vouchedFor(one, what);
      if (vouched === 'refused') continue;
      const notes = [
        ...(numbered === undefined && newest > one.revision
          ? [`older than revision ${String(newest)}, which is here`]
          : []),
        ...(numbered === undefined ? [] : ['was deleted, and comes back']),
        ...(this.#carried.namespace === 'snap' && vouched.by === undefined ? [unvouched] : []),
      ];
      made.revisions.push({ one, isDeleted: numbered !== undefined, assertion: vouched.by });
      this.#line(
        { kind: 'revision', what, from: null, to: one.version ?? name, notes },
        vouched.by === undefined ? this.#word : 'upstream',
      );
    }
  }

  /**
   * The believed assertion about a revision, if there is one. Refuses the revision if the assertion contradicts the
   * transfer.
   */
  #vouchedFor(one: TransferRevision, what: string): { by: string | undefined } | 'refused' {
    if (one.assertion === undefined) return { by: undefined };
    const assertion = this.#planning.believed(one.assertion);
    if (assertion?.type !== 'snap-revision') return { by: undefined };
    try {
      const said = carriedSnap(assertion, this.#planning.believed);
      const { id, name, publisher } = this.#carried;
      const isSame =
        said.id === id &&
        said.name === name &&
        said.publisher.id === publisher &&
        said.revision === one.revision &&
        said.sha3_384 === one.content['sha3-384'] &&
        said.size === one.content.size;
      return isSame ? { by: one.assertion } : this.#problem(what, saidOtherwise);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#problem(what, error.message);
    }
  }

  async #withdrawals(made: PackagePlan): Promise<void> {
    const { id, withdrawn } = this.#carried;
    for (const one of withdrawn) {
      const what = `revision ${String(one.revision)}`;
      const numbered = await this.#records.revisions.numbered(id, one.revision);
      if (numbered === undefined || numbered.withdrawnBecause !== null) continue;
      // A source without permission to release must not empty channels either.
      const holding = this.#planning.source.mayRelease
        ? []
        : await this.#records.releases.holding(id, one.revision, this.#planning.at);
      if (holding.length > 0) {
        const channels = [...new Set(holding.map(({ channel }) => channel))].join(', ');
        this.#kept(
          what,
          `It is withdrawn at its source (${one.why}), which may not change channels: ${channels} hold it here.`,
        );
        continue;
      }
      made.withdrawals.push(one);
      this.#line({
        kind: 'withdrawal',
        what,
        from: 'in use',
        to: 'withdrawn',
        notes: [one.why],
      });
    }
  }

  #kept(what: string, why: string): void {
    this.#plan.leftOut.push({ package: this.#called, what: `${this.#called} ${what}`, why });
  }

  #telling(): Telling {
    return {
      line: (line, word) => {
        this.#line(line, word);
      },
      problem: (what, why) => {
        this.#problem(what, why);
      },
      kept: (what, why) => {
        this.#kept(what, why);
      },
      isGood: async (subject, what, sha3_384) =>
        (await this.#isThere(what, sha3_384)) && (await this.#isGood(subject, what)),
      whyNot: async (subject, sha3_384) =>
        (await this.#isHeld(sha3_384)) ? this.#whyBad(subject) : 'Its content is neither in the transfer nor here.',
    };
  }

  #contents(): Pick<ContentTelling, 'isThere' | 'isGood'> {
    return {
      isThere: (what, sha3_384) => this.#isThere(what, sha3_384),
      isGood: (subject, what) => this.#isGood(subject, what),
    };
  }

  async #isHeld(sha3_384: string): Promise<boolean> {
    return this.#planning.arrived.has(sha3_384) || (await this.#records.neededContents.has(sha3_384));
  }

  async #isThere(what: string, sha3_384: string): Promise<boolean> {
    if (await this.#isHeld(sha3_384)) return true;
    this.#plan.missing.push(sha3_384);
    this.#problem(what, 'Its content is neither in the transfer nor here.');
    return false;
  }

  async #isGood(subject: string, what: string): Promise<boolean> {
    const why = await this.#whyBad(subject);
    if (why !== undefined) this.#problem(what, why);
    return why === undefined;
  }

  async #whyBad(subject: string): Promise<string | undefined> {
    const found = await this.#planning.finding(subject);
    return (found?.findings ?? null) === null ? (found?.refused ?? 'It has not been reviewed yet.') : undefined;
  }

  /** The origin of trust for content that no assertion covers. */
  get #word(): Word {
    return this.#planning.isUnsigned ? 'nobody' : 'source';
  }

  #line(line: Omit<PlanLine, 'package' | 'word'>, word = this.#word): void {
    this.#plan.lines.add({ package: this.#called, ...line, word });
  }

  #problem(what: string, why: string): 'refused' {
    this.#plan.problems.push({ package: this.#called, what, why });
    return 'refused';
  }
}

/** The lines for approvers: the parts of the transfer, and each channel change in the form of any other release. */
export const approvalLines = ({ lines, releases }: Pick<Plan, 'lines' | 'releases'>): Line[] => [
  ...lines.values().map(({ package: called, what, from, to }) => {
    return { kind: 'transfers' as const, on: `${called} ${what}`, part: null, from, to };
  }),
  ...releases,
];
