// Approving an upload: its content becomes the next revision of its package, or of a resource.
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Findings, Review } from '#records/uploads.ts';

export interface Approved {
  upload: Review;
  subject: PublishedPackage;
  findings: Findings;
  at: string;
}

/** Approves an upload, within a change; what the audit log is told of it. Content that is there already is not added again. */
export async function approveUpload(tx: Changes, approved: Approved): Promise<Record<string, unknown>> {
  const { findings } = approved;
  return findings.kind === 'resource'
    ? addResourceRevision(tx, approved, findings)
    : addRevision(tx, approved, findings);
}

async function addRevision(
  tx: Changes,
  { upload, subject, at }: Approved,
  findings: Findings & { kind: 'revision' },
): Promise<Record<string, unknown>> {
  const twin = await tx.revisions.withContent(subject.id, upload.sha3_384);
  if (twin !== undefined) {
    await tx.uploads.reject(upload.id, [
      {
        code: 'review-error',
        message: `Cannot insert package. An upload with that digest (SHA3-384: '${upload.sha3_384}') already exists in the database, as revision ${twin.revision}.`,
      },
    ]);
    return { rejected: `same content as revision ${twin.revision}` };
  }
  const revision = (await tx.revisions.newest(subject.id)) + 1;
  await tx.revisions.add({
    packageId: subject.id,
    revision,
    sha3_384: upload.sha3_384,
    sha256: upload.sha256,
    size: upload.size,
    version: findings.version ?? String(revision),
    status: 'approved',
    createdAt: at,
    createdBy: upload.pushedBy,
    details: findings.details,
    packageYaml: findings.packageYaml,
    craftYaml: findings.craftYaml,
  });
  for (const resource of findings.declares) await tx.resources.declare(subject.id, revision, resource);
  await tx.uploads.approve(upload.id, revision);
  await fillIn(tx, subject.id, findings);
  return { revision };
}

/** What the content says fills in what its publisher has not said; the icon is always the newest revision's. */
async function fillIn(tx: Changes, packageId: string, { prose, icon }: Findings & { kind: 'revision' }): Promise<void> {
  const latest = await tx.packages.byId(packageId);
  if (prose === null || latest === undefined) return;
  await tx.packages.describe({
    ...latest,
    title: latest.title ?? prose.title,
    summary: latest.summary ?? prose.summary,
    description: latest.description ?? prose.description,
    icon: icon === undefined ? latest.icon : icon,
  });
}

async function addResourceRevision(
  tx: Changes,
  { upload, subject, at }: Approved,
  { sha384, sha512 }: Findings & { kind: 'resource' },
): Promise<Record<string, unknown>> {
  const { resource: name, request, sha256, sha3_384, size } = upload;
  if (name === null || request === null)
    throw new Error(`cannot approve ${upload.id} as a resource: it was pushed as none`);
  const twin = await tx.resourceRevisions.withContent(subject.id, name, sha3_384);
  const revision = twin?.revision ?? (await tx.resourceRevisions.newest(subject.id, name)) + 1;
  if (twin === undefined) {
    const content = { sha256, sha3_384, sha384, sha512, size };
    const created = { createdAt: at, createdBy: upload.pushedBy };
    await tx.resourceRevisions.add({ packageId: subject.id, name, revision, ...request, ...content, ...created });
  }
  await tx.uploads.approve(upload.id, revision);
  return { resource: name, revision };
}
