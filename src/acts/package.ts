// The package that an act is done to.
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';

/** How the audit log names a package: `snap/hello`. */
export const packageObject = ({ namespace, name }: Pick<PublishedPackage, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** The package as it stands, which others may have changed meanwhile; refused with `resource-not-found` when it is gone. */
export async function latestOf(
  tx: Pick<Changes, 'packages'>,
  subject: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
): Promise<PublishedPackage> {
  const found = await tx.packages.byId(subject.id);
  if (found !== undefined) return found;
  throw new Refusal(
    'resource-not-found',
    `The package ${packageObject(subject)} is gone; it was unregistered meanwhile.`,
  );
}

/** That a package has no such revision, and why not where it was deleted. */
export async function whyNoRevision(
  { revisions }: Pick<Records, 'revisions'>,
  { id, name }: Pick<PublishedPackage, 'id' | 'name'>,
  revision: number,
): Promise<string> {
  const because = await revisions.whyDeleted(id, revision);
  if (because === undefined) {
    const [newest] = await revisions.list(id, 1);
    const hint = newest === undefined ? 'It has none yet.' : `Its newest is ${String(newest.revision)}.`;
    return `'${name}' has no revision ${String(revision)}. ${hint}`;
  }
  return `Revision ${String(revision)} of '${name}' is deleted; the same file pushed again brings it back: ${because}`;
}
