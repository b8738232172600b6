// Adds a revision to a package, whether it was pushed, imported or transferred.
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { NewRevision } from '#records/revisions/revisions.ts';
import type { Findings } from '#records/uploads/uploads.ts';

/** For a charm that was reviewed before larder read the data for juju. */
const unread = { sha384: '', configYaml: null, actionsYaml: null };

export type RevisionFindings = Findings & { kind: 'revision' };

/** The properties of a revision other than its findings. */
export type RevisionContent = Pick<
  NewRevision,
  'revision' | 'sha3_384' | 'sha256' | 'size' | 'createdAt' | 'createdBy'
>;

/** Adds an approved revision. If it is the newest, the package's metadata follows it. */
export async function addRevisionTo(
  tx: ChangeRecords,
  subject: PublishedPackage,
  content: RevisionContent,
  findings: RevisionFindings,
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
  if (findings.bill !== undefined) await tx.billsOfMaterials.addToRevision(subject.id, revision, findings.bill);
  for (const resource of findings.declares) await tx.resources.declare(subject.id, revision, resource);
  if (isNewest) await follow(tx, subject, findings);
}

/** Updates the package's metadata from its newest revision, except fields that were edited here. */
async function follow(tx: ChangeRecords, subject: PublishedPackage, { prose, icon }: RevisionFindings): Promise<void> {
  if (prose === null) return;
  // Fields that the content does not set stay as they are.
  const metadata = { ...prose, icon: icon === undefined ? subject.icon : icon };
  const editedFields = Object.fromEntries(subject.edited.map((field) => [field, subject[field]]));
  // An icon equal to the one in the upload does not count as edited.
  const edited = subject.edited.filter((field) => field !== 'icon' || subject.icon !== metadata.icon);
  await tx.packages.describe({ ...subject, ...metadata, ...editedFields, edited });
}
