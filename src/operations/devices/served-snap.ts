// Presents a snap and its revision to devices. A device selects the members by name.
import type { SnapDetails } from '#contract/wire.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import type { Delta } from '#records/devices/deltas.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import { readDeviceFacts, noDeviceFacts, type SnapDeviceFacts } from '#review/snaps/device-facts.ts';
import { presentDelta } from './deltas.ts';

/** Members of the snap. */
const ofSnap: SnapFieldGetters<PublishedPackage> = {
  categories: () => [],
  contact: ({ links }) => links.contact?.[0],
  description: ({ description }) => description ?? undefined,
  license: ({ license }) => license ?? undefined,
  links: ({ links }) => links,
  media: ({ id, icon }, base) => (icon === null ? [] : [{ type: 'icon', url: `${base}/icons/${id}/${icon}` }]),
  name: ({ name }) => name,
  private: (snap) => snap.private,
  publisher: ({ publisher: { id, username, displayName, validation } }) => ({
    id,
    username,
    'display-name': displayName,
    validation,
  }),
  'snap-id': ({ id }) => id,
  summary: ({ summary }) => summary ?? undefined,
  title: ({ title }) => title ?? undefined,
  website: ({ links }) => links.website?.[0],
};

/** Members of a revision. */
const ofRevision: SnapFieldGetters<RevisionForDevices> = {
  architectures: ({ details }) => details.architectures ?? ['all'],
  base: ({ details }) => details.base ?? undefined,
  'common-ids': (revision) => readAnnouncement(revision).commonIds,
  confinement: ({ details }) => details.confinement ?? 'strict',
  'created-at': ({ createdAt }) => createdAt,
  download: (revision, base) => ({
    url: downloadAddress(base, revision),
    size: revision.size,
    'sha3-384': revision.sha3_384,
    deltas: [],
  }),
  epoch: (revision) => readAnnouncement(revision).epoch,
  revision: ({ revision }) => revision,
  'snap-yaml': ({ packageYaml }) => packageYaml ?? undefined,
  type: ({ details }) => details.type ?? 'app',
  version: ({ version }) => version,
};

type SnapFieldGetters<Of> = {
  readonly [Name in keyof SnapDetails]?: (of: Of, baseUrl: string) => SnapDetails[Name] | undefined;
};

/** The requested members of a snap or of a revision; unknown names are ignored. */
export const presentSnap = (snap: PublishedPackage, fields: readonly string[], baseUrl: string): SnapDetails =>
  some(ofSnap, snap, fields, baseUrl);

export const presentSnapRevision = (
  revision: RevisionForDevices,
  fields: readonly string[],
  baseUrl: string,
): SnapDetails => some(ofRevision, revision, fields, baseUrl);

/** The requested members of a snap and its revision, with the delta from the revision of the device. */
export function presentDetails(
  snap: PublishedPackage,
  revision: RevisionForDevices,
  { fields }: SnapFieldSelection,
  baseUrl: string,
  { delta, resources }: { delta?: Delta | undefined; resources?: SnapDetails['resources'] },
): SnapDetails {
  const revisionDetails = withDelta(presentSnapRevision(revision, fields, baseUrl), delta, baseUrl);
  return { ...presentSnap(snap, fields, baseUrl), ...revisionDetails, ...(resources && { resources }) };
}

const withDelta = (details: SnapDetails, delta: Delta | undefined, baseUrl: string): SnapDetails =>
  delta === undefined || details.download === undefined
    ? details
    : { ...details, download: { ...details.download, deltas: [presentDelta(delta, baseUrl)] } };

/** The requested members, and `key`, the cache key of this list. */
export interface SnapFieldSelection {
  fields: readonly string[];
  key: string;
  /** Whether the device requests components. */
  resources: boolean;
}

export const fieldsOf = (fields: readonly string[] = everyField): SnapFieldSelection => ({
  fields,
  key: fields.join(),
  resources: fields.includes('resources'),
});

/** All members in alphabetical order, for devices that name none. */
export const everyField: readonly string[] = [...Object.keys(ofSnap), ...Object.keys(ofRevision)].sort();

function some<Of>(members: SnapFieldGetters<Of>, of: Of, fields: readonly string[], baseUrl: string): SnapDetails {
  const selected: Record<string, unknown> = {};
  for (const name of fields) {
    const value = Object.hasOwn(members, name) ? members[name as keyof SnapDetails]?.(of, baseUrl) : undefined;
    if (value !== undefined) selected[name] = value;
  }
  return selected;
}

/** The download URL of a revision. Its bytes never change. */
const downloadAddress = (baseUrl: string, { packageId, revision }: RevisionForDevices): string =>
  `${baseUrl}/api/v1/snaps/download/${packageId}_${revision}.snap`;

/** Cache by digest. Parsing a snap.yaml takes 0.2 ms, and a refresh needs thirty. */
const announcements = new BoundedMap<string, SnapDeviceFacts>(10_000);

export function readAnnouncement({ sha3_384, packageYaml }: RevisionForDevices): SnapDeviceFacts {
  if (packageYaml === null) return noDeviceFacts;
  const before = announcements.get(sha3_384);
  if (before !== undefined) return before;
  const read = readDeviceFacts(packageYaml);
  announcements.set(sha3_384, read);
  return read;
}
