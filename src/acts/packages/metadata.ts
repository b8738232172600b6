// The metadata of a package: edited here, or taken from its uploads.
import { refuseBadLinks } from '#domain/packages/links.ts';
import { ConflictingFields, Refusal, type ConflictingField } from '#domain/refusal.ts';
import type { EditableField, Links, PublishedPackage } from '#records/packages/packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from './package.ts';

/** A change of metadata; omitted fields stay. */
export interface MetadataChange {
  private?: boolean;
  title?: string | null;
  summary?: string | null;
  description?: string | null;
  license?: string | null;
  defaultTrack?: string | null;
  /** The digest and file extension of the icon. Its content is stored already. */
  icon?: string | null;
  /** The links of the given kinds; an empty list removes a kind. */
  links: Links;
}

/**
 * The origin of new metadata. `editor`: a person edits it here. `upload`: it is taken from an uploaded package, and
 * refused if it was edited here to another value. `upload, forced`: it is taken from an uploaded package and overrides
 * edits.
 */
export type MetadataOrigin = 'editor' | 'upload' | 'upload, forced';

interface MetadataChangeRequest {
  package: PublishedPackage;
  members: string[];
  changes: MetadataChange;
  metadataOrigin?: MetadataOrigin;
}

export const updatePackageMetadata = act({
  name: 'update_package_metadata',
  summary: 'Change the metadata and the visibility of a package.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: MetadataChangeRequest) => packageObject(subject),
  gate: { never: 'metadata is for people to read and can be changed back' },

  async perform(
    tx,
    { package: subject, members, changes, metadataOrigin = 'editor' }: MetadataChangeRequest,
    { note },
  ) {
    note({ members });
    refuseBadLinks(changes.links);
    const latest = await requireCurrentPackage(tx, subject);
    const tracks = await tx.tracks.list(subject.id);
    const { defaultTrack = null } = changes;
    if (defaultTrack !== null && !tracks.some(({ name }) => name === defaultTrack)) {
      throw new Refusal('api-error', `'${defaultTrack}' is not a track of '${subject.name}' at /default-track`);
    }
    if (metadataOrigin === 'upload') refuseConflicts(latest, changes);
    const linkEntries = Object.entries({ ...latest.links, ...changes.links }).filter(([, list]) => list.length > 0);
    const links = Object.fromEntries(linkEntries) as Links;
    const edited = editedAfter(
      latest,
      { ...changes, links },
      { metadataOrigin, editsLinks: Object.keys(changes.links).length > 0 },
    );
    const described = { ...latest, ...changes, links, edited };
    await tx.packages.describe(described);
    return { package: described, tracks, guardrails: await tx.guardrails.list(subject.id) };
  },
});

const prose = ['title', 'summary', 'description', 'license'] as const;

/**
 * The fields that count as edited after this change. A text that is cleared, or overridden by an upload, follows
 * uploads again.
 */
function editedAfter(
  latest: PublishedPackage,
  changes: MetadataChange,
  { metadataOrigin, editsLinks }: { metadataOrigin: MetadataOrigin; editsLinks: boolean },
): EditableField[] {
  const edited = new Set(latest.edited);
  for (const field of prose) {
    if (changes[field] === undefined || metadataOrigin === 'upload') continue;
    if (metadataOrigin === 'editor' && changes[field] !== null) edited.add(field);
    else edited.delete(field);
  }
  // All links count as one field, and follow uploads again when the last one is removed.
  if (editsLinks && metadataOrigin !== 'upload') {
    if (metadataOrigin === 'editor' && Object.keys(changes.links).length > 0) edited.add('links');
    else edited.delete('links');
  }
  // An icon that differs from the current one counts as edited, until a forced upload of the metadata overrides it.
  if (changes.icon !== undefined && metadataOrigin === 'upload, forced') edited.delete('icon');
  else if (changes.icon !== undefined && changes.icon !== latest.icon) edited.add('icon');
  return [...edited].sort();
}

/** Refuses to overwrite fields that a person edited. The default track counts as edited once it is set, because no upload sets it. */
function refuseConflicts(latest: PublishedPackage, changes: MetadataChange): void {
  const edited = new Set<string>(latest.edited);
  const { title, summary, description, license, icon, defaultTrack, links } = changes;
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
