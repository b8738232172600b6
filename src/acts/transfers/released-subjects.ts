// The revisions that the channels of a transfer get, with their contents: of stored revisions, and of revisions that its review read.
import { imageContentsSubject, parseFindings, subjectOf } from './findings.ts';
import type { PackagePlan, TransferPlan } from './plan-types.ts';
import type { ChannelUndo } from './receipt.ts';
import type { FleetChange } from '../fleets/fleet-change.ts';
import type { FindingSubject } from '../vulnerabilities/effective-findings.ts';
import {
  isAttestation,
  storedImages,
  storedManifests,
  type ReleasedImage,
  type ReleasedImageRecords,
  type ReleasedResource,
} from '../vulnerabilities/released-images.ts';
import { storedSubject, type ReleasedSubject } from '../vulnerabilities/vulnerability-lines.ts';
import type { FleetSetting } from '#domain/fleets/fleet-view.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { Repository } from '#records/images/images.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';

type SubjectRecords = ReleasedImageRecords & (Pick<StoreRecords, 'revisions'> | Pick<ChangeRecords, 'revisions'>);
type FleetSubjectNouns = 'packages' | 'releases';
type FleetSubjectRecords = SubjectRecords &
  (Pick<StoreRecords, FleetSubjectNouns> | Pick<ChangeRecords, FleetSubjectNouns>);

/** The revisions of the planned releases and of fleets. */
export async function* releasedSubjects(
  records: FleetSubjectRecords,
  { packages, fleets, finding }: Pick<TransferPlan, 'packages' | 'fleets' | 'finding'>,
  at: string,
): AsyncGenerator<ReleasedSubject> {
  const ofFleets = Map.groupBy(
    fleets.flatMap(({ channels }) => channels),
    ({ packageId }) => packageId,
  );
  for (const plan of packages) {
    const plannedSubject = async (
      channel: string,
      { revision, resources }: GivenRevision,
    ): Promise<ReleasedSubject> => {
      const bill = () => billOf(records, plan, revision, finding);
      const images = () => releasedImages(records, plan, resources, finding);
      return { ...(await transferredSubject(records, plan, revision)), channel, bill, images };
    };
    for (const { release } of plan.releases)
      yield await plannedSubject(release.channel, { ...release, resources: release.resources ?? [] });
    const { id } = plan.carried;
    const changes = ofFleets.get(id) ?? [];
    ofFleets.delete(id);
    for (const { channel, to } of changes)
      for (const revision of await givenBy(records, { settings: to, at, plan }))
        yield await plannedSubject(channel, revision);
  }
  for (const [id, changes] of ofFleets) yield* fleetSubjects(records, id, changes, at);
}

/** The revisions that changed channels of fleets give, of a package that no transfer changes. */
async function* fleetSubjects(
  records: FleetSubjectRecords,
  id: string,
  changes: readonly { channel: string; to: readonly FleetSetting[] }[],
  at: string,
): AsyncGenerator<ReleasedSubject> {
  const subject = await records.packages.byId(id);
  if (subject === undefined) return;
  for (const { channel, to } of changes)
    for (const revision of await givenBy(records, { settings: to, at }))
      yield* await storedSubject(records, subject, { channel, ...revision });
}

interface GivenRevision {
  revision: number;
  resources: readonly ReleasedResource[];
}

interface GivenSettings {
  settings: readonly FleetSetting[];
  at: string;
  /** The plan of the package; the followed channels get its releases. */
  plan?: Pick<PackagePlan, 'releases'>;
}

/** The revisions that settings give: the fixed ones, and those of the followed channels. */
async function givenBy(
  { releases }: Pick<FleetSubjectRecords, 'releases'>,
  { settings, at, plan }: GivenSettings,
): Promise<GivenRevision[]> {
  const revisions: GivenRevision[] = [];
  for (const { packageId, revision, follows, resources, withdrawn } of settings) {
    if (revision !== null && !withdrawn) revisions.push({ revision, resources });
    if (follows === null) continue;
    revisions.push(...(await releases.inChannel(packageId, follows, at)));
    for (const { release } of plan?.releases ?? [])
      if (release.channel === follows)
        revisions.push({ revision: release.revision, resources: release.resources ?? [] });
  }
  return revisions;
}

/** The revisions that a rollback returns to channels and to fleets. */
export async function* restoredSubjects(
  tx: ChangeRecords,
  { undo, fleets }: { undo: readonly ChannelUndo[]; fleets: readonly FleetChange[] },
  at: string,
): AsyncGenerator<ReleasedSubject> {
  for (const { before } of undo) {
    const subject = before === null ? undefined : await tx.packages.byId(before.packageId);
    if (before !== null && subject !== undefined) yield* await storedSubject(tx, subject, before);
  }
  for (const { packageId, channel, from } of fleets.flatMap(({ channels }) => channels))
    yield* fleetSubjects(tx, packageId, [{ channel, to: from }], at);
}

/** A revision of a planned package, stored or not. */
export async function transferredSubject(
  { revisions }: SubjectRecords,
  { carried }: Pick<PackagePlan, 'carried'>,
  revision: number,
): Promise<FindingSubject> {
  const stored = await revisions.find(carried.id, revision);
  const sent = carried.revisions.find((entry) => entry.revision === revision);
  const { version = '', sha256 = '' } = stored ?? { version: sent?.version, sha256: sent?.content.sha256 };
  return { package: carried, revision, version, sha256 };
}

/** The contents of a revision of a planned package; undefined if they are unknown. */
export async function billOf(
  { billsOfMaterials }: SubjectRecords,
  { carried: { id } }: Pick<PackagePlan, 'carried'>,
  revision: number,
  finding: TransferPlan['finding'],
): Promise<BillOfMaterials | undefined> {
  const stored = await billsOfMaterials.ofRevision(id, revision);
  return stored ?? parseFindings('revision', await finding(subjectOf(id, revision)))?.bill;
}

/** The images that a release of a planned package gives as resources: stored ones, and those of the transfer. */
export async function releasedImages(
  records: SubjectRecords,
  { carried }: Pick<PackagePlan, 'carried'>,
  released: readonly ReleasedResource[],
  finding: TransferPlan['finding'],
): Promise<ReleasedImage[]> {
  const images = await storedImages(records, carried.id, released);
  for (const { name: resource, revision } of released) {
    if (revision === null || images.some((image) => image.resource === resource && image.revision === revision))
      continue;
    const sent = carried.resources.find(({ name, type }) => name === resource && type === 'oci-image');
    const sentRevision = sent?.revisions.find((entry) => entry.revision === revision);
    if (sentRevision === undefined) continue;
    const { image } = sentRevision;
    // Without an image here, its content names one in another registry.
    const contents =
      image === undefined
        ? { manifests: [], isUnread: false }
        : await transferredImage(records, { packageId: carried.id, resource }, image, finding);
    images.push({ resource, revision, ...contents });
  }
  return images;
}

/** The contents of an image that a transfer brings, or that is here already. */
async function transferredImage(
  records: ReleasedImageRecords,
  repository: Repository,
  image: string,
  finding: TransferPlan['finding'],
): Promise<Pick<ReleasedImage, 'manifests' | 'isUnread'>> {
  const { packageId, resource } = repository;
  const sent = parseFindings('manifest', await finding(subjectOf(packageId, resource, image)));
  const children = sent?.children ?? (await records.resourceImages.manifestsOf(repository, image));
  const { manifests } = await storedManifests(records, repository, children.length === 0 ? [image] : children);
  for (const manifest of manifests)
    manifest.bill ??= parseFindings(
      'image-contents',
      await finding(imageContentsSubject(packageId, resource, manifest.sha256)),
    )?.bill;
  return {
    manifests: manifests.filter((manifest) => !isAttestation(manifest)),
    isUnread: manifests.some(({ bill }) => bill === undefined),
  };
}
