// The planning of one package of a transfer: its plan so far, and the reports that every kind of content makes.
import type { TransferPackage } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { contentMissing } from './findings.ts';
import type {
  PackagePlan,
  PlanLine,
  PlanRecords,
  TransferPlan,
  TransferPlanInputs,
  TrustOrigin,
} from './plan-types.ts';

/**
 * The highest revision number that is accepted. Revisions pushed here are numbered above all received ones, and
 * statements can name numbers up to 2147483647.
 */
const maxRevision = 2_000_000_000;

/** State shared by the packages of one plan: each account is planned once, and each user name given once. */
export interface PlannedAccounts {
  ids: Set<string>;
  usernames: Set<string>;
}

export interface PlanningContext {
  records: PlanRecords;
  inputs: TransferPlanInputs;
  /** The plan of the transfer, which gets the lines and problems. */
  transfer: TransferPlan;
  accounts: PlannedAccounts;
}

export class PackagePlanning {
  readonly records: PlanRecords;
  readonly inputs: TransferPlanInputs;
  readonly accounts: PlannedAccounts;
  /** The package as the source describes it. */
  readonly carried: TransferPackage;
  /** `namespace/name`. */
  readonly name: string;
  readonly plan: PackagePlan;
  readonly #transfer: TransferPlan;

  constructor({ records, inputs, transfer, accounts }: PlanningContext, carried: TransferPackage) {
    this.records = records;
    this.inputs = inputs;
    this.accounts = accounts;
    this.carried = carried;
    this.name = `${carried.namespace}/${carried.name}`;
    this.#transfer = transfer;
    this.plan = {
      carried,
      existing: undefined,
      accounts: [],
      tracks: [],
      revisions: [],
      resources: [],
      images: [],
      metadata: {},
      libraries: [],
      withdrawals: [],
      releases: [],
      ends: [],
      closes: [],
    };
  }

  /** Adds a change. The default word is the statement of the source. */
  line(line: Omit<PlanLine, 'package' | 'word' | 'notes'> & { notes?: string[] }, word?: TrustOrigin): void {
    const { kind, what: item, from, to, notes = [] } = line;
    const stated = this.inputs.isUnsigned ? 'nobody' : 'source';
    this.#transfer.lines.add({ package: this.name, kind, what: item, from, to, notes, word: word ?? stated });
  }

  /** Adds a channel change in the form of any other release, for approvers. */
  releaseLine(line: ApprovalLine): void {
    this.#transfer.releases.add(line);
  }

  problem(item: string, reason: string): void {
    this.#transfer.problems.push({ package: this.name, what: item, why: reason });
  }

  /** Reports that this store keeps its own version of an item, and why. */
  unchanged(item: string, reason: string): void {
    this.#transfer.leftOut.push({ package: this.name, what: `${this.name} ${item}`, why: reason });
  }

  /** Returns whether a revision number is too high to be accepted. If it is, adds a problem to the plan. */
  isTooHigh({ revision }: { revision: number }, item: string): boolean {
    if (revision <= maxRevision) return false;
    this.problem(
      item,
      `Its number is above ${String(maxRevision)}, which leaves too few numbers for revisions that are pushed here. ` +
        'Ask its source for a lower number.',
    );
    return true;
  }

  /** Returns whether a content was received or is in this store. If not, adds a problem to the plan. */
  async hasContent(item: string, sha3_384: string): Promise<boolean> {
    if (await this.#isHeld(sha3_384)) return true;
    this.#transfer.missing.push(sha3_384);
    this.problem(item, contentMissing);
    return false;
  }

  /** Whether the review of a subject found no fault; reports a problem if it did. */
  async passesReview(subject: string, item: string): Promise<boolean> {
    const reason = await this.#whyRefused(subject);
    if (reason !== undefined) this.problem(item, reason);
    return reason === undefined;
  }

  /** Why a content cannot be used; undefined if it can. */
  async whyUnusable(subject: string, sha3_384: string): Promise<string | undefined> {
    return (await this.#isHeld(sha3_384)) ? this.#whyRefused(subject) : contentMissing;
  }

  async #isHeld(sha3_384: string): Promise<boolean> {
    return this.inputs.arrived.has(sha3_384) || (await this.records.neededContents.has(sha3_384));
  }

  async #whyRefused(subject: string): Promise<string | undefined> {
    const finding = await this.inputs.finding(subject);
    return (finding?.findings ?? null) === null ? (finding?.refused ?? 'It has not been reviewed yet.') : undefined;
  }
}
