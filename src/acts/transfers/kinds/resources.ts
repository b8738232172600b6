// Resources of charms and components of snaps in transfers, with the pull credentials of resources that name images.
import type { TransferPackage, TransferResource } from '#contract/wire.ts';
import { HeaderReader } from '#assertions/format/headers.ts';
import { defaultProvenance } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Repository } from '#records/images/images.ts';
import { subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { TransferPlanInputs } from '../plan-types.ts';
import type { ContentKind, PackageAcceptance } from './content-kind.ts';
import { contradictionReason, otherContentReason, sameContentReason, unvouchedNote } from './reasons.ts';

type SentResourceRevision = TransferResource['revisions'][number];

export const resourceContent: ContentKind = {
  async plan(planning) {
    for (const resource of planning.carried.resources) {
      for (const sentRevision of resource.revisions) {
        const item = `${resource.name} revision ${String(sentRevision.revision)}`;
        const isNew =
          sentRevision.content === undefined
            ? await isNewImageResource(planning, resource, sentRevision, item)
            : await isNewResource(planning, resource, { ...sentRevision, content: sentRevision.content }, item);
        if (!isNew) continue;
        const subject = subjectOf(planning.carried.id, resource.name, sentRevision.revision);
        if (await planning.passesReview(subject, item)) addResource(planning, resource, sentRevision, item);
      }
    }
  },

  async accept(acceptance) {
    for (const planned of acceptance.plan.resources) await acceptResource(acceptance, planned);
  },
};

/** Whether a resource revision is not here; reports a problem if it cannot be accepted. */
async function isNewResource(
  planning: PackagePlanning,
  { name }: TransferResource,
  sentRevision: SentResourceRevision & Required<Pick<SentResourceRevision, 'content'>>,
  item: string,
): Promise<boolean> {
  const { resourceRevisions } = planning.records;
  const { id } = planning.carried;
  const sha3_384 = sentRevision.content['sha3-384'];
  const existing = await resourceRevisions.withContent(id, name, sha3_384);
  if (existing?.revision === sentRevision.revision && existing.deletedAt === null) return false;
  if (existing !== undefined) {
    planning.problem(item, sameContentReason(existing));
    return false;
  }
  if ((await resourceRevisions.find(id, name, sentRevision.revision)) !== undefined) {
    planning.problem(item, otherContentReason);
    return false;
  }
  return !planning.isTooHigh(sentRevision, item) && planning.hasContent(item, sha3_384);
}

/** Like `isNewResource`, for a resource that names an image. Such a resource is not sent as bytes: this store makes its content. */
async function isNewImageResource(
  planning: PackagePlanning,
  { name }: TransferResource,
  sentRevision: SentResourceRevision,
  item: string,
): Promise<boolean> {
  const { records, carried } = planning;
  const taken = await records.resourceRevisions.find(carried.id, name, sentRevision.revision);
  if (taken === undefined) return !planning.isTooHigh(sentRevision, item);
  const [currentImage] = await records.images.namedBy([taken.sha3_384]);
  if (currentImage !== sentRevision.image) planning.problem(item, otherContentReason);
  return false;
}

/** Adds a resource. If it is a component of a snap, checks it against its assertions. */
function addResource(
  planning: PackagePlanning,
  resource: TransferResource,
  sentRevision: SentResourceRevision,
  item: string,
): void {
  const { carried, inputs, plan } = planning;
  const isComponent = carried.namespace === 'snap' && sentRevision.content !== undefined;
  const vouched = isComponent && verifyComponent(carried, resource.name, sentRevision, inputs);
  if (vouched === 'contradicted') {
    planning.problem(item, contradictionReason);
    return;
  }
  plan.resources.push({ resource, sentRevision });
  const notes = isComponent && !vouched ? [unvouchedNote] : [];
  const line = { kind: 'resource', what: item, from: null, to: resource.type, notes } as const;
  planning.line(line, vouched ? 'upstream' : undefined);
}

/**
 * Whether verified assertions confirm a component completely: its bytes, its number, and each revision of the snap that
 * it serves. Returns `contradicted` if the assertion about these bytes says something else.
 */
function verifyComponent(
  { id, revisions }: Pick<TransferPackage, 'id' | 'revisions'>,
  name: string,
  { content, revision, serves }: SentResourceRevision,
  { believed }: Pick<TransferPlanInputs, 'believed'>,
): boolean | 'contradicted' {
  if (content === undefined) return false;
  const digest = Buffer.from(content['sha3-384'], 'hex').toString('base64url');
  // A component has the provenance of its snap.
  const provenances = revisions.map(({ assertion }) => {
    const provenance = assertion === undefined ? undefined : believed.find(assertion)?.headers['provenance'];
    return typeof provenance === 'string' ? provenance : defaultProvenance;
  });
  for (const provenance of new Set([defaultProvenance, ...provenances])) {
    const assertion = believed.find(['snap-resource-revision', id, name, digest, provenance].join('/'));
    if (assertion === undefined) continue;
    const headers = new HeaderReader('snap-resource-revision assertion', assertion.headers);
    if (headers.count('resource-revision', 1) !== revision || headers.count('resource-size', 0) !== content.size)
      return 'contradicted';
    const pair = (of: number): string =>
      ['snap-resource-pair', id, name, revision, of, provenance].map(String).join('/');
    return serves.every((of) => believed.find(pair(of)) !== undefined);
  }
  return false;
}

async function acceptResource(
  acceptance: PackageAcceptance,
  { resource: { name, type }, sentRevision }: PackageAcceptance['plan']['resources'][number],
): Promise<void> {
  const { tx, subject, findings } = acceptance;
  const { revision, image, serves, bases, architectures } = sentRevision;
  const packageId = subject.id;
  const { sha384, sha512, content: made } = await findings('resource', subjectOf(packageId, name, revision));
  const content = sentRevision.content ?? made;
  if (content === undefined) throw new Error(`cannot let in ${name}: it has no content`);
  if (sentRevision.content === undefined) await acceptCredential(acceptance, { packageId, resource: name });
  const { sha256, 'sha3-384': sha3_384, size } = content;
  // The next transfer compares against this, and the job that reads it from contents may not have run by then.
  if (image !== undefined) await tx.images.mention(sha3_384, image);
  const [first = null, ...others] = serves;
  const created = { createdAt: sentRevision['created-at'], createdBy: sentRevision['created-by'] };
  const digests = { sha256, sha3_384, size, sha384, sha512 };
  const targets = { bases, architectures, packageRevision: first };
  await tx.resourceRevisions.add({ packageId, name, revision, type, ...digests, ...targets, ...created });
  for (const served of others) await tx.resourceRevisions.pair({ packageId, name, revision }, served);
}

/** Makes the pull credentials valid that the content of a resource names. */
async function acceptCredential({ tx, doing, findings }: PackageAcceptance, repository: Repository): Promise<void> {
  const subject = subjectOf(repository.packageId, repository.resource, 'credential');
  const { id, secretSha256, sealedSecret } = await findings('credential', subject);
  const current = await tx.imageCredentials.toPull(repository);
  if (current?.id === id) return;
  if (current !== undefined) {
    throw new Refusal(
      'conflict',
      `New pull credentials of ${repository.resource} were made after the transfer was received. Discard the transfer and receive it again.`,
    );
  }
  await tx.imageCredentials.addToPull(repository, { id, secretSha256, sealedSecret, issuedAt: doing.at });
}
