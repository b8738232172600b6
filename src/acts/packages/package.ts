// The package of an act.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';

/** The name of a package in the audit log: `snap/hello`. */
export const packageObject = ({ namespace, name }: Pick<PublishedPackage, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Returns the current record of a package; refuses with `resource-not-found` if it is gone. */
export async function requireCurrentPackage(
  tx: Pick<ChangeRecords, 'packages'>,
  subject: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
): Promise<PublishedPackage> {
  const current = await tx.packages.byId(subject.id);
  if (current !== undefined) return current;
  throw new Refusal('resource-not-found', `The package ${packageObject(subject)} was unregistered in the meantime.`);
}

/** Why a package has no such revision, with the reason if it was deleted. */
export async function describeMissingRevision(
  { revisions }: Pick<StoreRecords, 'revisions'>,
  { id, name }: Pick<PublishedPackage, 'id' | 'name'>,
  revision: number,
): Promise<string> {
  const because = await revisions.whyDeleted(id, revision);
  if (because === undefined) {
    const [newest] = await revisions.list(id, 1);
    const hint = newest === undefined ? 'It has none yet.' : `Its newest revision is ${String(newest.revision)}.`;
    return `'${name}' has no revision ${String(revision)}. ${hint}`;
  }
  return `Revision ${String(revision)} of '${name}' is deleted. Push the same file again to bring it back. Reason: ${because}`;
}
