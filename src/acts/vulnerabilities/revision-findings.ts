// Findings of the revisions that channels and devices have.
import {
  createFindingReader,
  type EffectiveFinding,
  type EffectiveFindings,
  type FindingRecords,
  type FindingSubject,
} from './effective-findings.ts';
import { isAtLeast } from '#domain/vulnerabilities/component-vulnerability.ts';
import type { VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import type { FleetSetting } from '#domain/fleets/fleet-view.ts';
import type { DeviceFilter } from '#records/fleets/seen-devices.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import type { ResourceImage } from '#records/vulnerabilities/resource-images.ts';

/** The number of devices that are counted: the last callers. */
export const maxCountedDevices = 10_000;

export interface FindingFilter {
  /** The lowest severity to list. */
  severity?: VulnerabilitySeverity | undefined;
  knownExploited?: boolean | undefined;
  /** RFC 3339. Only findings that the package has had since then, and not before. */
  newSince?: string | undefined;
  /** Whether to list suppressed and accepted findings too. */
  all?: boolean | undefined;
}

type ListedFinding = EffectiveFinding & { since: string };

/** A revision, or an image of a resource, with its findings, its channels and the devices that report it. */
export interface FindingsOfRevision
  extends Omit<EffectiveFindings, 'findings'>, Pick<FindingSubject, 'package' | 'revision'> {
  /** The name of the resource for the image of a resource revision; null for a revision of the package. */
  resource: string | null;
  /** Null for an image. */
  version: string | null;
  channels: string[];
  /** Undefined for an image, and if the store does not remember devices. */
  devices: number | undefined;
  /** The open findings, whether the filter lists them or not. */
  open: number;
  findings: ListedFinding[];
}

export interface FindingListContext {
  records: FindingRecords &
    Pick<StoreRecords, 'fleets' | 'packageFindings' | 'releases' | 'resourceImages' | 'revisions' | 'seenDevices'>;
  /** RFC 3339. */
  at: string;
  /** Whether the store remembers devices. */
  remember: boolean;
  /** Only revisions that devices of this fleet have or get, with the number of its devices. */
  fleet?: { name: string; has: DeviceFilter } | undefined;
}

/** The fleet of a filter. Refuses an unknown fleet, and a store that does not remember devices. */
export async function findFleet(
  { fleets }: Pick<StoreRecords, 'fleets'>,
  name: string | undefined,
  { store, devices }: { store: { id: string }; devices: { remember: boolean } },
): Promise<FindingListContext['fleet']> {
  if (name === undefined) return undefined;
  const has = await fleets.filterOf(name, store.id);
  if (has === undefined)
    throw new Refusal('resource-not-found', `There is no fleet '${name}'. 'larder fleet list' lists them.`);
  if (devices.remember) return { name, has };
  throw new Refusal('conflict', 'The store does not remember devices. Set devices.remember = true in larder.toml.');
}

/** Lists the revisions of packages that a channel or a device has, each with the findings that the filter selects. */
export async function listRevisionFindings(
  { records, at, remember, fleet }: FindingListContext,
  packages: readonly FindingsOfRevision['package'][],
  filter: FindingFilter = {},
): Promise<FindingsOfRevision[]> {
  const reader = createFindingReader(records, at);
  const ids = packages.map(({ id }) => id);
  const holders = remember ? (await records.seenDevices.holders(ids, maxCountedDevices, fleet?.has)).counts : undefined;
  const listed: FindingsOfRevision[] = [];
  for (const subject of packages) {
    const releases = await records.releases.current(subject.id, at);
    const settings = await records.fleets.settingsOfPackage(subject.id);
    const channels = channelsByRevision(
      fleet === undefined ? releases : [],
      settings.filter((setting) => fleet === undefined || setting.fleet === fleet.name),
    );
    const devices = holders?.get(subject.id);
    const numbers = [...new Set([...channels.keys(), ...(devices?.keys() ?? [])])];
    const since = new Map(
      (await records.packageFindings.ofPackage(subject.id)).map(({ vulnerability, since }) => [vulnerability, since]),
    );
    const list = (listedSubject: ListedSubject, { findings, ...match }: EffectiveFindings): void => {
      const dated = findings.map((finding) => ({ ...finding, since: since.get(finding.vulnerability) ?? at }));
      listed.push({
        package: subject,
        ...listedSubject,
        ...match,
        open: findings.filter(({ state }) => state === 'open').length,
        findings: dated.filter((finding) => isSelected(finding, filter)),
      });
    };
    for (const { revision, version, sha256 } of await records.revisions.listOf(subject.id, numbers)) {
      const findings = await reader.ofRevision({ package: subject, revision, version, sha256 });
      const held = remember ? (devices?.get(revision) ?? 0) : undefined;
      list({ resource: null, revision, version, channels: channels.get(revision) ?? [], devices: held }, findings);
    }
    // Deployments are no devices of a fleet.
    for (const image of fleet === undefined ? await releasedImages(records, subject, releases) : []) {
      const { resource, revision, channels } = image;
      list(
        { resource, revision, version: null, channels, devices: undefined },
        await reader.ofImage({ package: subject, ...image }),
      );
    }
  }
  return listed;
}

type ListedSubject = Pick<FindingsOfRevision, 'resource' | 'revision' | 'version' | 'channels' | 'devices'>;

/** The images that releases give to deployments, with the channels of each. */
async function releasedImages(
  { resourceImages }: Pick<StoreRecords, 'resourceImages'>,
  { id, namespace }: FindingsOfRevision['package'],
  releases: readonly Release[],
): Promise<(ResourceImage & { channels: string[] })[]> {
  if (namespace !== 'charm') return [];
  const images = await resourceImages.ofPackage(id);
  return images.flatMap((image) => {
    const channels = releases
      .filter(({ resources }) =>
        resources.some(({ name, revision }) => name === image.resource && revision === image.revision),
      )
      .map(({ channel }) => channel);
    return channels.length === 0 ? [] : [{ ...image, channels: [...new Set(channels)] }];
  });
}

/** The channels of each revision, also for the devices of a fleet alone. */
function channelsByRevision(
  releases: readonly Pick<Release, 'revision' | 'channel'>[],
  settings: readonly FleetSetting[],
): Map<number, string[]> {
  const channels = new Map<number, string[]>();
  const add = (revision: number, channel: string): unknown =>
    channels.set(revision, [...new Set([...(channels.get(revision) ?? []), channel])]);
  for (const { revision, channel } of releases) add(revision, channel);
  for (const { revision, channel, withdrawn } of settings)
    if (revision !== null && !withdrawn) add(revision, `${channel} (a fleet)`);
  return channels;
}

const isSelected = (
  { state, severity, isExploited, since }: ListedFinding,
  { all, severity: minimum, knownExploited, newSince }: FindingFilter,
): boolean =>
  (all === true || state === 'open') &&
  (minimum === undefined || isAtLeast(severity, minimum)) &&
  (knownExploited !== true || isExploited) &&
  (newSince === undefined || since >= newSince);
