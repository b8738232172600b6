// Metadata of packages in transfers: texts, links, icon and default track.
import { createDigest } from '#domain/cryptography.ts';
import { refuseBadLinks } from '#domain/packages/links.ts';
import { refusalReason } from '#domain/refusal.ts';
import type { EditableField, Links, PublishedPackage } from '#records/packages/packages.ts';
import { subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { TransferMetadata } from '../plan-types.ts';
import type { ContentKind } from './content-kind.ts';

export const metadataContent: ContentKind = {
  /** Adds the new metadata. Metadata that was edited here stays. */
  async plan(planning) {
    const { carried, plan } = planning;
    const { existing } = plan;
    const metadata = await collectMetadata(planning);
    for (const [field, value] of Object.entries(metadata) as [
      keyof TransferMetadata,
      PublishedPackage[keyof TransferMetadata],
    ][]) {
      const [from, to] = [inWords(existing?.[field] ?? null), inWords(value)];
      if (existing?.edited.includes(field as EditableField) === true) {
        if (from !== to) planning.unchanged(names[field], 'It was edited here and is not changed.');
        continue;
      }
      plan.metadata = { ...plan.metadata, [field]: value };
      // Approvers need not see the texts of a new package: they change nothing for devices. The default track gets a line,
      // because it decides which revision devices install.
      if ((existing !== undefined || field === 'defaultTrack') && from !== to)
        planning.line({ kind: 'metadata', what: names[field], from, to });
    }
    if (existing !== undefined && existing.private !== carried.private) {
      const [atSource, inStore] = carried.private ? ['private', 'public'] : ['public', 'private'];
      planning.unchanged('visibility', `It is ${atSource} at its source and stays ${inStore} here.`);
    }
  },

  async accept({ tx, plan, subject }) {
    // Accepted revisions may have changed its metadata.
    const current = await tx.packages.byId(subject.id);
    if (current !== undefined) await tx.packages.describe({ ...current, ...plan.metadata });
  },
};

const names: Record<keyof TransferMetadata, string> = {
  title: 'title',
  summary: 'summary',
  description: 'description',
  license: 'license',
  icon: 'icon',
  defaultTrack: 'default track',
  links: 'links',
};

async function collectMetadata(planning: PackagePlanning): Promise<TransferMetadata> {
  const { records, carried } = planning;
  const { existing, tracks } = planning.plan;
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
      existing?.icon === name ? undefined : await planning.whyUnusable(subjectOf(id, 'icon'), icon.content['sha3-384']);
    if (reason === undefined) metadata.icon = name;
    else planning.unchanged('icon', reason);
  }
  if (links !== undefined) {
    const reason = await refusalReason(() => {
      refuseBadLinks(links);
    });
    if (reason === undefined) metadata.links = links;
    else planning.problem('links', reason);
  }
  if (defaultTrack === undefined || defaultTrack === null) {
    if (defaultTrack === null) metadata.defaultTrack = null;
  } else {
    const trackNames = [...tracks, ...(await records.tracks.list(id)).map(({ name }) => name)];
    if (trackNames.includes(defaultTrack)) metadata.defaultTrack = defaultTrack;
    else planning.problem('default track', `'${defaultTrack}' is not a track of it.`);
  }
  return metadata;
}

/** The number of characters of a text that a line shows. The digest identifies the whole text. */
const shown = 200;

function inWords(value: PublishedPackage[keyof TransferMetadata]): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : linksInWords(value);
  if (text.length <= shown) return text === '' ? null : text;
  const digest = createDigest('change').update(text).digest('hex');
  return `${text.slice(0, shown)}… (${String(text.length)} characters, SHA-256 ${digest})`;
}

const linksInWords = (links: Links): string =>
  Object.entries(links)
    .filter(([, list]) => list.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, list]) => `${kind}: ${list.join(' ')}`)
    .join('; ');
