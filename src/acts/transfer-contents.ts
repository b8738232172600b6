// Plans which resources and images of a transfer are accepted, and reports problems with the others.
import type { TransferPackage, TransferResource } from '#api/wire.ts';
import { vouchedFor } from './transfer-components.ts';
import {
  subjectOf,
  type PackagePlan,
  type PlanLine,
  type Planning,
  type PlanRecords,
  type Word,
} from './transfer-planning.ts';

/**
 * The highest revision number that is accepted. Revisions pushed here are numbered above all received ones, and
 * statements can name numbers up to 2147483647.
 */
const highestRevision = 2_000_000_000;

export const saidOtherwise = 'Its assertion says something else of it than the transfer does.';
export const unvouched = 'no assertion that this site believes';

export interface ContentTelling {
  line(line: Omit<PlanLine, 'package' | 'word'>, word?: Word): void;
  problem(what: string, why: string): void;
  /** Whether a content was received or is here; reports a problem if not. */
  isThere(what: string, sha3_384: string): Promise<boolean>;
  /** Whether the review of a subject found no fault; reports a problem if it did. */
  isGood(subject: string, what: string): Promise<boolean>;
}

type Component = TransferResource['revisions'][number];

interface ResourcePlanning {
  records: PlanRecords;
  planning: Planning;
  made: PackagePlan;
  telling: ContentTelling;
}

/** Whether a number is too high to be accepted; reports it as a problem. */
export function isTooHigh({ revision }: { revision: number }, what: string, telling: Pick<ContentTelling, 'problem'>) {
  if (revision <= highestRevision) return false;
  telling.problem(
    what,
    `Its number is above ${String(highestRevision)}, which leaves too few for revisions that are pushed here. ` +
      'Have its source number it lower.',
  );
  return true;
}

/** Adds the resource revisions that are not here. */
export async function planResources(at: ResourcePlanning): Promise<void> {
  const { resourceRevisions } = at.records;
  const { id, resources } = at.made.carried;
  const { problem, isThere, isGood } = at.telling;
  for (const resource of resources) {
    for (const one of resource.revisions) {
      const what = `${resource.name} revision ${String(one.revision)}`;
      if (one.content === undefined) {
        await planImageResource(at, resource, one, what);
        continue;
      }
      const sha3_384 = one.content['sha3-384'];
      const known = await resourceRevisions.withContent(id, resource.name, sha3_384);
      if (known?.revision === one.revision && known.deletedAt === null) continue;
      if (known !== undefined) {
        problem(what, `The same content is here as revision ${String(known.revision)}.`);
        continue;
      }
      if ((await resourceRevisions.find(id, resource.name, one.revision)) !== undefined) {
        problem(what, 'It is here with other content, and stays as it is.');
        continue;
      }
      if (isTooHigh(one, what, at.telling) || !(await isThere(what, sha3_384))) continue;
      if (await isGood(subjectOf(id, resource.name, one.revision), what)) addResource(at, resource, one, what);
    }
  }
}

/** Adds a resource. If it is a component of a snap, checks it against its assertions. */
function addResource(
  { planning, made, telling }: ResourcePlanning,
  resource: TransferResource,
  one: Component,
  what: string,
): void {
  const isSnap = made.carried.namespace === 'snap';
  const vouched = isSnap && vouchedFor(made.carried, resource.name, one, planning);
  if (vouched === 'contradicted') {
    telling.problem(what, saidOtherwise);
    return;
  }
  made.resources.push({ resource, one });
  const notes = isSnap && !vouched ? [unvouched] : [];
  telling.line({ kind: 'resource', what, from: null, to: resource.type, notes }, vouched ? 'upstream' : undefined);
}

/** Adds a resource that names an image; this store makes its content. */
async function planImageResource(
  { records, made, telling }: ResourcePlanning,
  resource: TransferResource,
  one: Component,
  what: string,
): Promise<void> {
  const { id } = made.carried;
  const taken = await records.resourceRevisions.find(id, resource.name, one.revision);
  if (taken !== undefined) {
    const [named] = await records.images.namedBy([taken.sha3_384]);
    if (named !== one.image) telling.problem(what, 'It is here with other content, and stays as it is.');
    return;
  }
  if (isTooHigh(one, what, telling)) return;
  if (!(await telling.isGood(subjectOf(id, resource.name, one.revision), what))) return;
  made.resources.push({ resource, one });
  telling.line({ kind: 'resource', what, from: null, to: resource.type, notes: [] });
}

/** Adds the images that are not here yet under the given tags. */
export async function planImages({ records, made, telling }: Omit<ResourcePlanning, 'planning'>): Promise<void> {
  const { id, images } = made.carried;
  for (const image of images) {
    if (await holdsImage(records, id, image)) continue;
    let isWhole = true;
    for (const { content } of image.manifests) {
      const what = `image ${image.resource}@sha256:${content.sha256}`;
      const isThere = await telling.isThere(what, content['sha3-384']);
      isWhole = isThere && (await telling.isGood(subjectOf(id, image.resource, content.sha256), what)) && isWhole;
    }
    for (const blob of image.blobs)
      isWhole = (await telling.isThere(`image ${image.resource}`, blob['sha3-384'])) && isWhole;
    if (!isWhole) continue;
    made.images.push(image);
    const tags = image.manifests.flatMap((one) => one.tags.map((tag) => `${tag} at sha256:${one.content.sha256}`));
    const count = `${String(image.manifests.length)} manifests, ${String(image.blobs.length)} blobs`;
    telling.line({ kind: 'image', what: image.resource, from: null, to: [count, ...tags].join('; '), notes: [] });
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
  if (!digests.every((one) => held.has(one))) return false;
  const there = await images.tagsOf(repository, digests);
  return manifests.every(({ content, tags }) =>
    tags.every((tag) => there.some((one) => one.tag === tag && one.manifest === content.sha256)),
  );
}
