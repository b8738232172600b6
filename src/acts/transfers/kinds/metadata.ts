// Plans the changes of a transfer to the metadata of a package and to its libraries.
import { createHash } from 'node:crypto';

import type { TransferLibrary } from '#contract/wire.ts';
import { refuseBadLinks } from '#domain/packages/links.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Followed, Links, PublishedPackage } from '#records/packages/packages.ts';
import {
  subjectOf,
  type PackagePlan,
  type PlanLine,
  type PlanRecords,
  type TransferMetadata,
  type TrustOrigin,
} from '../plan-types.ts';

export interface PackagePlanReporter {
  line(line: Omit<PlanLine, 'package' | 'word'>, word?: TrustOrigin): void;
  problem(item: string, reason: string): void;
  /** Reports that a minor property stays as it is here. */
  unchanged(item: string, reason: string): void;
  /** Whether a content was received and its review found no fault; reports it if not. */
  isGood(subject: string, item: string, sha3_384: string): Promise<boolean>;
  /** Why a content is refused; undefined if it is not. */
  whyNot(subject: string, sha3_384: string): Promise<string | undefined>;
}

/** Adds the new metadata of the package. Metadata that was edited here stays. */
export async function planDescription(
  records: PlanRecords,
  made: PackagePlan,
  reporter: PackagePlanReporter,
): Promise<void> {
  const { carried, existing } = made;
  const metadata = await collectMetadata(records, made, reporter);
  for (const [field, value] of Object.entries(metadata) as [
    keyof TransferMetadata,
    PublishedPackage[keyof TransferMetadata],
  ][]) {
    const before = existing?.[field] ?? null;
    const [from, to] = [inWords(before), inWords(value)];
    if (existing?.edited.includes(field as Followed) === true) {
      if (from !== to) reporter.unchanged(names[field], 'It was edited here and is not changed.');
      continue;
    }
    made.metadata = { ...made.metadata, [field]: value };
    // All texts of a new package are new and change nothing for devices, so they need no line. Its default track
    // decides what devices install, so it does.
    if ((existing !== undefined || field === 'defaultTrack') && from !== to)
      reporter.line({ kind: 'metadata', what: names[field], from, to, notes: [] });
  }
  if (existing !== undefined && existing.private !== carried.private) {
    const sourceVisibility = carried.private ? 'private' : 'public';
    reporter.unchanged(
      'visibility',
      `It is ${sourceVisibility} at its source and stays ${existing.private ? 'private' : 'public'} here.`,
    );
  }
}

const names: Record<keyof TransferMetadata, string> = {
  title: 'title',
  summary: 'summary',
  description: 'description',
  license: 'license',
  icon: 'icon',
  defaultTrack: 'default track',
  links: 'links',
};

async function collectMetadata(
  records: PlanRecords,
  { carried, existing, tracks }: PackagePlan,
  reporter: PackagePlanReporter,
): Promise<TransferMetadata> {
  const { id, title, summary, description, license, icon, links, 'default-track': defaultTrack } = carried;
  const metadata: TransferMetadata = {
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(license !== undefined && { license }),
  };
  if (icon === null) metadata.icon = null;
  else if (icon !== undefined) {
    const name = `${icon.content['sha3-384']}.${icon.ending}`;
    const reason =
      existing?.icon === name ? undefined : await reporter.whyNot(subjectOf(id, 'icon'), icon.content['sha3-384']);
    if (reason === undefined) metadata.icon = name;
    else reporter.unchanged('icon', reason);
  }
  if (links !== undefined && areGood(links, reporter)) metadata.links = links;
  if (defaultTrack === undefined || defaultTrack === null) {
    if (defaultTrack === null) metadata.defaultTrack = null;
  } else {
    const trackNames = [...tracks, ...(await records.tracks.list(id)).map(({ name }) => name)];
    if (trackNames.includes(defaultTrack)) metadata.defaultTrack = defaultTrack;
    else reporter.problem('default track', `'${defaultTrack}' is not a track of it.`);
  }
  return metadata;
}

function areGood(links: Links, { problem }: PackagePlanReporter): boolean {
  try {
    refuseBadLinks(links);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    problem('links', error.message);
    return false;
  }
}

/** The number of characters of a text that a line shows. The digest identifies the whole text. */
const shown = 200;

function inWords(value: PublishedPackage[keyof TransferMetadata]): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : linksInWords(value);
  if (text.length <= shown) return text === '' ? null : text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, shown)}… (${String(text.length)} characters, SHA-256 ${digest})`;
}

const linksInWords = (links: Links): string =>
  Object.entries(links)
    .filter(([, list]) => list.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, list]) => `${kind}: ${list.join(' ')}`)
    .join('; ');

/** Adds the library versions that are not here. */
export async function planLibraries(
  records: PlanRecords,
  made: PackagePlan,
  reporter: PackagePlanReporter,
): Promise<void> {
  const { libraries = [], id, namespace } = made.carried;
  for (const library of libraries) {
    const item = `library ${library.name}`;
    if (namespace !== 'charm') {
      reporter.problem(item, `A ${namespace} has no libraries.`);
      continue;
    }
    const { byId, findByName: byName } = records.charmLibraries;
    const [existing, twin] = [await byId(library.id), await byName(id, library.name)];
    if (existing !== undefined && (existing.packageId !== id || existing.name !== library.name))
      reporter.problem(item, `The id '${library.id}' belongs to another library here.`);
    else if (existing === undefined && twin !== undefined)
      reporter.problem(item, `It is stored here with the id '${twin.id}', not '${library.id}'.`);
    else await planVersions(records, made, library, reporter);
  }
}

async function planVersions(
  records: PlanRecords,
  made: PackagePlan,
  library: TransferLibrary,
  reporter: PackagePlanReporter,
): Promise<void> {
  const existingVersions = await records.charmLibraries.versions(library.id);
  const versions: TransferLibrary['versions'] = [];
  for (const version of library.versions) {
    const { api, patch, hash, content } = version;
    const item = `library ${library.name} ${String(api)}.${String(patch)}`;
    const existingVersion = existingVersions.find((other) => other.api === api && other.patch === patch);
    if (existingVersion !== undefined) {
      if (existingVersion.hash !== hash)
        reporter.problem(item, 'It is stored here with another hash, so it cannot be accepted.');
      continue;
    }
    const subject = subjectOf(made.carried.id, library.id, api, patch);
    if (!(await reporter.isGood(subject, item, content['sha3-384']))) continue;
    versions.push(version);
    reporter.line({ kind: 'library', what: item, from: null, to: 'published', notes: [] });
  }
  const isNew = (await records.charmLibraries.byId(library.id)) === undefined;
  if (isNew && versions.length === 0)
    reporter.line({ kind: 'library', what: `library ${library.name}`, from: null, to: 'registered', notes: [] });
  if (versions.length > 0 || isNew) made.libraries.push({ ...library, versions });
}
