// A revision that comes to a package, whichever way its content came.
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { NewRevision } from '#records/revisions.ts';
import type { Findings } from '#records/uploads.ts';

/** Of a charm that was reviewed before what juju hears was read from it. */
const unread = { sha384: '', configYaml: null, actionsYaml: null };

export type FoundRevision = Findings & { kind: 'revision' };

/** What is known of it beside what was found in it. */
export type RevisionContent = Pick<
  NewRevision,
  'revision' | 'sha3_384' | 'sha256' | 'size' | 'createdAt' | 'createdBy'
>;

/** Adds an approved revision; what is said of the package follows it where none is newer. */
export async function addRevisionTo(
  tx: Changes,
  subject: PublishedPackage,
  content: RevisionContent,
  findings: FoundRevision,
): Promise<void> {
  const { revision } = content;
  const isNewest = (await tx.revisions.newest(subject.id)) < revision;
  await tx.revisions.add({
    packageId: subject.id,
    ...content,
    version: findings.version ?? String(revision),
    status: 'approved',
    details: findings.details,
    packageYaml: findings.packageYaml,
    craftYaml: findings.craftYaml,
    charm: findings.charm ?? (subject.namespace === 'charm' ? unread : undefined),
  });
  for (const resource of findings.declares) await tx.resources.declare(subject.id, revision, resource);
  if (isNewest) await follow(tx, subject, findings);
}

/** What is said of a package follows its newest revision, but for what was edited here. */
async function follow(tx: Changes, subject: PublishedPackage, { prose, icon }: FoundRevision): Promise<void> {
  if (prose === null) return;
  // What content has no say in stays as it is.
  const said = { ...prose, icon: icon === undefined ? subject.icon : icon };
  const kept = Object.fromEntries(subject.edited.map((field) => [field, subject[field]]));
  // An icon that an upload brings as well was not edited after all.
  const edited = subject.edited.filter((field) => field !== 'icon' || subject.icon !== said.icon);
  await tx.packages.describe({ ...subject, ...said, ...kept, edited });
}
