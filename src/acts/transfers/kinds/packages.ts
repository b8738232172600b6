// Packages of transfers: their name, publisher and visibility.
import { fitsGlob } from '#domain/packages/package-glob.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ActContext } from '../../act.ts';
import { ensurePackage } from '../../packages/imports.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PackagePlan } from '../plan-types.ts';

/** Plans the package itself. Returns false if nothing of it can be accepted. */
export async function planPackage(planning: PackagePlanning): Promise<boolean> {
  const { records, inputs, carried, name, plan } = planning;
  const { statement, source } = inputs;
  if (!fitsGlob(source.packages, carried)) {
    planning.problem(name, `'${statement.source}' may bring ${source.packages.join(', ')}, and not this.`);
    return false;
  }
  const byId = await records.packages.byId(carried.id);
  const conflict = await describeConflict(planning, byId);
  if (conflict !== undefined) {
    planning.problem(name, conflict);
    return false;
  }
  plan.existing = byId;
  if (byId === undefined) await planNewPackage(planning);
  else await planPublisher(planning, byId);
  return true;
}

/** Why a package conflicts with one of this store: by its name or id, or by a publisher with an account here. */
async function describeConflict(
  { carried, records }: PackagePlanning,
  byId: PublishedPackage | undefined,
): Promise<string | undefined> {
  const { id, namespace, name, publisher } = carried;
  const byName = await records.packages.find(namespace, name);
  if (byName !== undefined && byName.id !== id)
    return `The name is registered here for ${byName.publisher.username}, with the id '${byName.id}', not '${id}'.`;
  if (byId === undefined) return undefined;
  if (byId.namespace !== namespace || byId.name !== name)
    return `The id '${id}' belongs to ${byId.namespace}/${byId.name} here.`;
  return byId.publisherId === publisher || (await records.accounts.isForeign(byId.publisherId))
    ? undefined
    : `It is published here by ${byId.publisher.username}, but at its source by '${publisher}'.`;
}

async function planNewPackage(planning: PackagePlanning): Promise<void> {
  const { publisher, private: isPrivate } = planning.carried;
  const { accounts } = planning.records;
  const isNew = (await accounts.find(publisher)) === undefined;
  const notes = isNew
    ? ['new publisher']
    : (await accounts.isForeign(publisher))
      ? []
      : ['its publisher is an account of this site'];
  const to = `published by ${publisher}${isPrivate ? ', private' : ''}`;
  planning.line({ kind: 'package', what: planning.name, from: null, to, notes });
}

/**
 * Adds a line if the package has another publisher at its source, with a note if that account is one of this site: it
 * can then push to the package.
 */
async function planPublisher(planning: PackagePlanning, { publisherId, publisher }: PublishedPackage): Promise<void> {
  const { publisher: id } = planning.carried;
  if (publisherId === id) return;
  const { accounts } = planning.records;
  const account = await accounts.find(id);
  const isLocal = account !== undefined && !(await accounts.isForeign(id));
  const notes = isLocal ? ['its publisher becomes an account of this site'] : [];
  const from = `${publisher.username} (${publisherId})`;
  const username = account?.username ?? planning.inputs.accountSaid(id)?.username ?? id;
  planning.line({ kind: 'publisher', what: 'publisher', from, to: `${username} (${id})`, notes });
}

/** Stores the package with the publisher of its source. */
export function acceptPackage(
  tx: ChangeRecords,
  { carried, existing }: PackagePlan,
  doing: ActContext,
): Promise<PublishedPackage> {
  const { id, namespace, name, type, publisher: publisherId, private: isPrivate } = carried;
  const packageFields = {
    id,
    namespace,
    name,
    type: type as PublishedPackage['type'],
    publisherId,
    private: isPrivate,
  };
  return ensurePackage(tx, packageFields, existing, doing);
}
