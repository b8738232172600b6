// Plans which resources and images of a transfer are accepted, and reports problems with the others.
import type { TransferPackage, TransferResource } from '#contract/wire.ts';
import { verifyComponent } from './components.ts';
import {
  subjectOf,
  type PackagePlan,
  type PlanLine,
  type TransferPlanInputs,
  type PlanRecords,
  type TrustOrigin,
} from '../plan-types.ts';

/**
 * The highest revision number that is accepted. Revisions pushed here are numbered above all received ones, and
 * statements can name numbers up to 2147483647.
 */
const maxRevision = 2_000_000_000;

export const contradictionReason = 'Its assertion and the transfer contradict each other.';
export const unvouchedNote = 'no assertion that this site believes';

export interface ContentPlanReporter {
  line(line: Omit<PlanLine, 'package' | 'word'>, word?: TrustOrigin): void;
  problem(item: string, reason: string): void;
  /** Whether a content was received or is here; reports a problem if not. */
  isThere(item: string, sha3_384: string): Promise<boolean>;
  /** Whether the review of a subject found no fault; reports a problem if it did. */
  isGood(subject: string, item: string): Promise<boolean>;
}

type SentResourceRevision = TransferResource['revisions'][number];

interface ResourcePlanning {
  records: PlanRecords;
  planning: TransferPlanInputs;
  made: PackagePlan;
  reporter: ContentPlanReporter;
}

/** Whether a number is too high to be accepted; reports it as a problem. */
export function isTooHigh(
  { revision }: { revision: number },
  item: string,
  reporter: Pick<ContentPlanReporter, 'problem'>,
) {
  if (revision <= maxRevision) return false;
  reporter.problem(
    item,
    `Its number is above ${String(maxRevision)}, which leaves too few numbers for revisions that are pushed here. ` +
      'Ask its source for a lower number.',
  );
  return true;
}

/** Adds the resource revisions that are not here. */
export async function planResources(at: ResourcePlanning): Promise<void> {
  const { resourceRevisions } = at.records;
  const { id, resources } = at.made.carried;
  const { problem, isThere, isGood } = at.reporter;
  for (const resource of resources) {
    for (const sentRevision of resource.revisions) {
      const item = `${resource.name} revision ${String(sentRevision.revision)}`;
      if (sentRevision.content === undefined) {
        await planImageResource(at, resource, sentRevision, item);
        continue;
      }
      const sha3_384 = sentRevision.content['sha3-384'];
      const existing = await resourceRevisions.withContent(id, resource.name, sha3_384);
      if (existing?.revision === sentRevision.revision && existing.deletedAt === null) continue;
      if (existing !== undefined) {
        problem(item, `The same content is stored here as revision ${String(existing.revision)}.`);
        continue;
      }
      if ((await resourceRevisions.find(id, resource.name, sentRevision.revision)) !== undefined) {
        problem(item, 'It is stored here with other content, so it cannot be accepted.');
        continue;
      }
      if (isTooHigh(sentRevision, item, at.reporter) || !(await isThere(item, sha3_384))) continue;
      if (await isGood(subjectOf(id, resource.name, sentRevision.revision), item))
        addResource(at, resource, sentRevision, item);
    }
  }
}

/** Adds a resource. If it is a component of a snap, checks it against its assertions. */
function addResource(
  { planning, made, reporter }: ResourcePlanning,
  resource: TransferResource,
  sentRevision: SentResourceRevision,
  item: string,
): void {
  const isSnap = made.carried.namespace === 'snap';
  const vouched = isSnap && verifyComponent(made.carried, resource.name, sentRevision, planning);
  if (vouched === 'contradicted') {
    reporter.problem(item, contradictionReason);
    return;
  }
  made.resources.push({ resource, sentRevision });
  const notes = isSnap && !vouched ? [unvouchedNote] : [];
  reporter.line(
    { kind: 'resource', what: item, from: null, to: resource.type, notes },
    vouched ? 'upstream' : undefined,
  );
}

/** Adds a resource that names an image; this store makes its content. */
async function planImageResource(
  { records, made, reporter }: ResourcePlanning,
  resource: TransferResource,
  sentRevision: SentResourceRevision,
  item: string,
): Promise<void> {
  const { id } = made.carried;
  const taken = await records.resourceRevisions.find(id, resource.name, sentRevision.revision);
  if (taken !== undefined) {
    const [currentImage] = await records.images.namedBy([taken.sha3_384]);
    if (currentImage !== sentRevision.image)
      reporter.problem(item, 'It is stored here with other content, so it cannot be accepted.');
    return;
  }
  if (isTooHigh(sentRevision, item, reporter)) return;
  if (!(await reporter.isGood(subjectOf(id, resource.name, sentRevision.revision), item))) return;
  made.resources.push({ resource, sentRevision });
  reporter.line({ kind: 'resource', what: item, from: null, to: resource.type, notes: [] });
}

/** Adds the images that are not here yet under the given tags. */
export async function planImages({ records, made, reporter }: Omit<ResourcePlanning, 'planning'>): Promise<void> {
  const { id, images } = made.carried;
  for (const image of images) {
    if (await holdsImage(records, id, image)) continue;
    let isWhole = true;
    for (const { content } of image.manifests) {
      const item = `image ${image.resource}@sha256:${content.sha256}`;
      const isThere = await reporter.isThere(item, content['sha3-384']);
      isWhole = isThere && (await reporter.isGood(subjectOf(id, image.resource, content.sha256), item)) && isWhole;
    }
    for (const blob of image.blobs)
      isWhole = (await reporter.isThere(`image ${image.resource}`, blob['sha3-384'])) && isWhole;
    if (!isWhole) continue;
    made.images.push(image);
    const tags = image.manifests.flatMap((manifest) =>
      manifest.tags.map((tag) => `${tag} at sha256:${manifest.content.sha256}`),
    );
    const count = `${String(image.manifests.length)} manifests, ${String(image.blobs.length)} blobs`;
    reporter.line({ kind: 'image', what: image.resource, from: null, to: [count, ...tags].join('; '), notes: [] });
  }
}

/** Whether the repository already holds the manifests of an image under the given tags. */
async function holdsImage(
  { images }: PlanRecords,
  packageId: string,
  { resource, manifests }: TransferPackage['images'][number],
): Promise<boolean> {
  const repository = { packageId, resource };
  const digests = manifests.map(({ content }) => content.sha256);
  const held = new Set((await images.manifests(repository, digests)).map(({ sha256 }) => sha256));
  if (!digests.every((digest) => held.has(digest))) return false;
  const storedTags = await images.tagsOf(repository, digests);
  return manifests.every(({ content, tags }) =>
    tags.every((tag) => storedTags.some((stored) => stored.tag === tag && stored.manifest === content.sha256)),
  );
}
