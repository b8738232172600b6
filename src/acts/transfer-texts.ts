// Plans the changes of a transfer to the metadata of a package and to its libraries.
import { createHash } from 'node:crypto';

import type { TransferLibrary } from '#api/wire.ts';
import { refuseBadLinks } from '#domain/links.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Followed, Links, PublishedPackage } from '#records/packages.ts';
import {
  subjectOf,
  type PackagePlan,
  type PlanLine,
  type PlanRecords,
  type Said,
  type Word,
} from './transfer-planning.ts';

export interface Telling {
  line(line: Omit<PlanLine, 'package' | 'word'>, word?: Word): void;
  problem(what: string, why: string): void;
  /** Reports that a minor property stays as it is here. */
  kept(what: string, why: string): void;
  /** Whether a content was received and its review found no fault; reports it if not. */
  isGood(subject: string, what: string, sha3_384: string): Promise<boolean>;
  /** Why a content is refused; undefined if it is not. */
  whyNot(subject: string, sha3_384: string): Promise<string | undefined>;
}

/** Adds the new metadata of the package. Metadata that was edited here stays. */
export async function planDescription(records: PlanRecords, made: PackagePlan, telling: Telling): Promise<void> {
  const { carried, here } = made;
  const said = await saidOf(records, made, telling);
  for (const [field, value] of Object.entries(said) as [keyof Said, PublishedPackage[keyof Said]][]) {
    const before = here?.[field] ?? null;
    const [from, to] = [inWords(before), inWords(value)];
    if (here?.edited.includes(field as Followed) === true) {
      if (from !== to) telling.kept(names[field], 'It was edited here, and stays.');
      continue;
    }
    made.said = { ...made.said, [field]: value };
    // All texts of a new package are new and change nothing for devices, so they need no line. Its default track
    // decides what devices install, so it does.
    if ((here !== undefined || field === 'defaultTrack') && from !== to)
      telling.line({ kind: 'metadata', what: names[field], from, to, notes: [] });
  }
  if (here !== undefined && here.private !== carried.private) {
    const there = carried.private ? 'private' : 'public';
    telling.kept('visibility', `It is ${there} at its source, and stays ${here.private ? 'private' : 'public'} here.`);
  }
}

const names: Record<keyof Said, string> = {
  title: 'title',
  summary: 'summary',
  description: 'description',
  license: 'license',
  icon: 'icon',
  defaultTrack: 'default track',
  links: 'links',
};

async function saidOf(records: PlanRecords, { carried, here, tracks }: PackagePlan, telling: Telling): Promise<Said> {
  const { id, title, summary, description, license, icon, links, 'default-track': defaultTrack } = carried;
  const said: Said = {
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(license !== undefined && { license }),
  };
  if (icon === null) said.icon = null;
  else if (icon !== undefined) {
    const name = `${icon.content['sha3-384']}.${icon.ending}`;
    const why = here?.icon === name ? undefined : await telling.whyNot(subjectOf(id, 'icon'), icon.content['sha3-384']);
    if (why === undefined) said.icon = name;
    else telling.kept('icon', why);
  }
  if (links !== undefined && areGood(links, telling)) said.links = links;
  if (defaultTrack === undefined || defaultTrack === null) {
    if (defaultTrack === null) said.defaultTrack = null;
  } else {
    const known = [...tracks, ...(await records.tracks.list(id)).map(({ name }) => name)];
    if (known.includes(defaultTrack)) said.defaultTrack = defaultTrack;
    else telling.problem('default track', `'${defaultTrack}' is no track of it.`);
  }
  return said;
}

function areGood(links: Links, { problem }: Telling): boolean {
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

function inWords(value: PublishedPackage[keyof Said]): string | null {
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
export async function planLibraries(records: PlanRecords, made: PackagePlan, telling: Telling): Promise<void> {
  const { libraries = [], id, namespace } = made.carried;
  for (const library of libraries) {
    const what = `library ${library.name}`;
    if (namespace !== 'charm') {
      telling.problem(what, `A ${namespace} has no libraries.`);
      continue;
    }
    const { byId, named } = records.charmLibraries;
    const [known, twin] = [await byId(library.id), await named(id, library.name)];
    if (known !== undefined && (known.packageId !== id || known.name !== library.name))
      telling.problem(what, `The id '${library.id}' is that of another library here.`);
    else if (known === undefined && twin !== undefined)
      telling.problem(what, `It is here with the id '${twin.id}' and not '${library.id}'.`);
    else await planVersions(records, made, library, telling);
  }
}

async function planVersions(
  records: PlanRecords,
  made: PackagePlan,
  library: TransferLibrary,
  telling: Telling,
): Promise<void> {
  const here = await records.charmLibraries.versions(library.id);
  const versions: TransferLibrary['versions'] = [];
  for (const one of library.versions) {
    const { api, patch, hash, content } = one;
    const what = `library ${library.name} ${String(api)}.${String(patch)}`;
    const there = here.find((other) => other.api === api && other.patch === patch);
    if (there !== undefined) {
      if (there.hash !== hash) telling.problem(what, 'It is here with another hash, and stays as it is.');
      continue;
    }
    const subject = subjectOf(made.carried.id, library.id, api, patch);
    if (!(await telling.isGood(subject, what, content['sha3-384']))) continue;
    versions.push(one);
    telling.line({ kind: 'library', what, from: null, to: 'published', notes: [] });
  }
  const isNew = (await records.charmLibraries.byId(library.id)) === undefined;
  if (isNew && versions.length === 0)
    telling.line({ kind: 'library', what: `library ${library.name}`, from: null, to: 'registered', notes: [] });
  if (versions.length > 0 || isNew) made.libraries.push({ ...library, versions });
}
