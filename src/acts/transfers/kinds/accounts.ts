// Accounts of other stores that packages in transfers refer to.
import { foreignAccount, type ForeignAccount } from '#assertions/foreign-snap.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { refusalReason } from '#domain/refusal.ts';
import { namespaces } from '#domain/packages/namespace.ts';
import type { ChangeRecords } from '#records/index.ts';
import { accountText, foreignAccountChange, storeForeignAccount } from '../../accounts/foreign-accounts.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PackagePlan, TransferPlanInputs, TrustOrigin } from '../plan-types.ts';

/** Adds the accounts that a package refers to and that are new or changed here. */
export async function planAccounts(planning: PackagePlanning): Promise<void> {
  for (const id of accountsIn(planning.carried)) {
    if (planning.accounts.ids.has(id)) continue;
    planning.accounts.ids.add(id);
    const reason = await refusalReason(() => planAccount(planning, id));
    if (reason !== undefined) planning.problem(`account ${id}`, reason);
  }
}

async function planAccount(planning: PackagePlanning, id: string): Promise<void> {
  const { records, inputs, accounts, plan } = planning;
  const { account, word } = findAccountDetails(id, inputs);
  if (account === undefined && (await records.accounts.find(id)) !== undefined) return;
  const described = account ?? { id, username: undefined, displayName: id, validation: 'unproven' };
  const change = await foreignAccountChange(records, described, inputs.at, accounts.usernames);
  if (change === undefined) return;
  const { before, after } = change;
  const item = `account ${id}`;
  if (before !== null && word !== 'upstream' && !(await mayChange(planning, id))) {
    const reason = `It is ${accountText(before)} here and is not changed, because this source is not the only one with packages of it.`;
    planning.unchanged(item, reason);
    return;
  }
  accounts.usernames.add(after.username);
  plan.accounts.push(change);
  const notes = before === null ? [] : ['was known here in other words'];
  const from = before === null ? null : accountText(before);
  planning.line({ kind: 'account', what: item, from, to: accountText(after), notes }, word);
}

/** Stores the accounts. The package and its contents refer to them. */
export async function acceptAccounts(tx: ChangeRecords, { accounts }: PackagePlan): Promise<void> {
  for (const account of accounts) await storeForeignAccount(tx, account);
}

function accountsIn({ publisher, revisions, resources, libraries = [] }: PackagePlan['carried']): Set<string> {
  const ids = new Set([publisher, ...revisions.map((revision) => revision['created-by'])]);
  for (const revision of resources.flatMap((resource) => resource.revisions)) ids.add(revision['created-by']);
  for (const version of libraries.flatMap((library) => library.versions)) ids.add(version['created-by']);
  return ids;
}

/** The properties of an account: from a verified assertion, or else from the source. Undefined if neither has them. */
function findAccountDetails(
  id: string,
  { believed, accountSaid }: TransferPlanInputs,
): { account: ForeignAccount | undefined; word?: TrustOrigin } {
  const assertion = believed.find(`account/${id}`);
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
async function mayChange({ records, inputs }: PackagePlanning, id: string): Promise<boolean> {
  const { packages, transferSources } = records;
  const { statement, source, isUnsigned } = inputs;
  const others = (await transferSources.list()).filter(({ name }) => isUnsigned || name !== statement.source);
  const its = (await Promise.all(namespaces.map((namespace) => packages.publishedBy(id, namespace)))).flat();
  if (!its.every((subject) => fitsGlob(source.packages, subject))) return false;
  if (others.length === 0) return true;
  return its.length > 0 && !its.some((subject) => others.some((other) => fitsGlob(other.packages, subject)));
}
