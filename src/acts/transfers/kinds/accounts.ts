// Plans which accounts of other stores a transfer adds, and which it may change.
import { foreignAccount, type ForeignAccount } from '#assertions/foreign-snap.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { namespaces } from '#domain/packages/namespace.ts';
import type { Account } from '#records/accounts/accounts.ts';
import { accountText, foreignAccountChange } from '../../accounts/foreign-accounts.ts';
import type { PackagePlan, PlanLine, TransferPlanInputs, PlanRecords, TrustOrigin } from '../plan-types.ts';

interface AccountPlanReporter {
  line(line: Omit<PlanLine, 'package' | 'word'>, word?: TrustOrigin): void;
  problem(item: string, reason: string): void;
  /** Reports that something stays as it is here. */
  unchanged(item: string, reason: string): void;
}

/** State shared by the packages of one plan: each account is planned once, and each user name given once. */
export interface PlannedAccounts {
  ids: Set<string>;
  usernames: Set<string>;
}

/** Adds to a plan the accounts that a package refers to and that are new or changed here. */
export async function planAccounts(
  records: PlanRecords,
  planning: TransferPlanInputs,
  { made, planned }: { made: PackagePlan; planned: PlannedAccounts },
  reporter: AccountPlanReporter,
): Promise<void> {
  for (const id of accountsIn(made.carried)) {
    if (planned.ids.has(id)) continue;
    planned.ids.add(id);
    try {
      await planAccount(records, planning, { id, made, planned }, reporter);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reporter.problem(`account ${id}`, error.message);
    }
  }
}

async function planAccount(
  records: PlanRecords,
  planning: TransferPlanInputs,
  { id, made, planned }: { id: string; made: PackagePlan; planned: PlannedAccounts },
  reporter: AccountPlanReporter,
): Promise<void> {
  const { account, word } = findAccountDetails(id, planning);
  if (account === undefined && (await records.accounts.find(id)) !== undefined) return;
  const described = account ?? { id, username: undefined, displayName: id, validation: 'unproven' };
  const change = await foreignAccountChange(records, described, planning.at, planned.usernames);
  if (change === undefined) return;
  const { before, after } = change;
  const item = `account ${id}`;
  if (before !== null && word !== 'upstream' && !(await mayChange(records, planning, before))) {
    const reason = `It is ${accountText(before)} here and is not changed, because this source is not the only one with packages of it.`;
    reporter.unchanged(item, reason);
    return;
  }
  planned.usernames.add(after.username);
  made.accounts.push(change);
  const notes = before === null ? [] : ['was known here in other words'];
  const from = before === null ? null : accountText(before);
  reporter.line({ kind: 'account', what: item, from, to: accountText(after), notes }, word);
}

function accountsIn({ publisher, revisions, resources, libraries = [] }: PackagePlan['carried']): Set<string> {
  const ids = new Set([publisher, ...revisions.map((revision) => revision['created-by'])]);
  for (const revision of resources.flatMap((resource) => resource.revisions)) ids.add(revision['created-by']);
  for (const version of libraries.flatMap((library) => library.versions)) ids.add(version['created-by']);
  return ids;
}

/** The properties of an account: from a believed assertion, or else from the source. Undefined if neither has them. */
function findAccountDetails(
  id: string,
  { believed, accountSaid }: TransferPlanInputs,
): { account: ForeignAccount | undefined; word?: TrustOrigin } {
  const assertion = believed(`account/${id}`);
  if (assertion !== undefined) return { account: foreignAccount(assertion), word: 'upstream' };
  const statedAccount = accountSaid(id);
  if (statedAccount === undefined) return { account: undefined };
  const { username, 'display-name': displayName, validation } = statedAccount;
  return { account: { id, username, displayName, validation } };
}

/**
 * Whether all packages of an account are in the scope of this source and of no other, so that the source may change the
 * account's names.
 */
async function mayChange({ packages, transferSources }: PlanRecords, planning: TransferPlanInputs, { id }: Account) {
  const { statement, source, isUnsigned } = planning;
  const others = (await transferSources.list()).filter(({ name }) => isUnsigned || name !== statement.source);
  const its = (await Promise.all(namespaces.map((namespace) => packages.publishedBy(id, namespace)))).flat();
  if (!its.every((subject) => fitsGlob(source.packages, subject))) return false;
  if (others.length === 0) return true;
  return its.length > 0 && !its.some((subject) => others.some((other) => fitsGlob(other.packages, subject)));
}
