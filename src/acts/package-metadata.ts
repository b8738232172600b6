// What is said about a package: edited here, or following what is uploaded.
import { refuseBadLinks } from '#domain/links.ts';
import { ConflictingFields, Refusal, type ConflictingField } from '#domain/refusal.ts';
import type { Followed, Links, PublishedPackage } from '#records/packages.ts';
import { act } from './act.ts';
import { latestOf, packageObject } from './package.ts';

/** What is to be said about a package; what is not named stays. */
export interface Description {
  private?: boolean;
  title?: string | null;
  summary?: string | null;
  description?: string | null;
  license?: string | null;
  defaultTrack?: string | null;
  /** The digest and file ending of the icon, whose content is there. */
  icon?: string | null;
  /** The links of the kinds that are named; an empty list takes a kind away. */
  links: Links;
}

/**
 * In whose words a package is described: by somebody who edits it here; as an uploaded package says it, which is refused
 * where it was edited here to something else; or as that says it, whatever was edited.
 */
export type InWordsOf = 'editor' | 'upload' | 'upload, forced';

interface Described {
  package: PublishedPackage;
  members: string[];
  given: Description;
  inWordsOf?: InWordsOf;
}

export const updatePackageMetadata = act({
  name: 'update_package_metadata',
  summary: 'Change what is said about a package, and who sees it.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: Described) => packageObject(subject),
  gate: { never: 'it is what people read of a package, and is changed back as easily' },

  async perform(tx, { package: subject, members, given, inWordsOf = 'editor' }: Described, { note }) {
    note({ members });
    refuseBadLinks(given.links);
    const latest = await latestOf(tx, subject);
    const tracks = await tx.tracks.list(subject.id);
    const { defaultTrack = null } = given;
    if (defaultTrack !== null && !tracks.some(({ name }) => name === defaultTrack)) {
      throw new Refusal('api-error', `'${defaultTrack}' is not a track of '${subject.name}' at /default-track`);
    }
    if (inWordsOf === 'upload') refuseConflicts(latest, given);
    const kept = Object.entries({ ...latest.links, ...given.links }).filter(([, list]) => list.length > 0);
    const links = Object.fromEntries(kept) as Links;
    const edited = editedAfter(
      latest,
      { ...given, links },
      { inWordsOf, editsLinks: Object.keys(given.links).length > 0 },
    );
    const described = { ...latest, ...given, links, edited };
    await tx.packages.describe(described);
    return { package: described, tracks, guardrails: await tx.guardrails.list(subject.id) };
  },
});

const prose = ['title', 'summary', 'description', 'license'] as const;

/** What was edited once this is said: a text that is cleared, or taken from an uploaded package by force, follows again. */
function editedAfter(
  latest: PublishedPackage,
  given: Description,
  { inWordsOf, editsLinks }: { inWordsOf: InWordsOf; editsLinks: boolean },
): Followed[] {
  const edited = new Set(latest.edited);
  for (const field of prose) {
    if (given[field] === undefined || inWordsOf === 'upload') continue;
    if (inWordsOf === 'editor' && given[field] !== null) edited.add(field);
    else edited.delete(field);
  }
  // Links are edited together, and follow again once none is left.
  if (editsLinks && inWordsOf !== 'upload') {
    if (inWordsOf === 'editor' && Object.keys(given.links).length > 0) edited.add('links');
    else edited.delete('links');
  }
  // Nobody writes an icon by hand: one that takes the place of the newest revision's is an edit of it, until force undoes that.
  if (given.icon !== undefined && inWordsOf === 'upload, forced') edited.delete('icon');
  else if (given.icon !== undefined && given.icon !== latest.icon) edited.add('icon');
  return [...edited].sort();
}

/** Refuses to change what was edited here, or what never follows an upload and so was said by somebody here. */
function refuseConflicts(latest: PublishedPackage, given: Description): void {
  const edited = new Set<string>(latest.edited);
  const { title, summary, description, license, icon, defaultTrack, links } = given;
  const first = (link: string[] | undefined): string | null | undefined => link && (link[0] ?? null);
  const fields: { name: string; current: string | null; value: string | null | undefined; isEdited: boolean }[] = [
    { name: 'title', current: latest.title, value: title, isEdited: edited.has('title') },
    { name: 'summary', current: latest.summary, value: summary, isEdited: edited.has('summary') },
    { name: 'description', current: latest.description, value: description, isEdited: edited.has('description') },
    { name: 'license', current: latest.license, value: license, isEdited: edited.has('license') },
    { name: 'icon', current: latest.icon, value: icon, isEdited: edited.has('icon') },
    {
      name: 'default_track',
      current: latest.defaultTrack,
      value: defaultTrack,
      isEdited: latest.defaultTrack !== null,
    },
    ...(['contact', 'website'] as const).map((name) => {
      const current = first(latest.links[name]) ?? null;
      return { name, current, value: first(links[name]), isEdited: edited.has('links') };
    }),
  ];
  const conflicts = fields.flatMap(({ name, current, value, isEdited }): ConflictingField[] =>
    isEdited && value !== undefined && value !== current ? [{ name, current, value }] : [],
  );
  if (conflicts.length > 0) throw new ConflictingFields(conflicts);
}
