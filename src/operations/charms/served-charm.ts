// Presents a charm and its revisions to juju, which selects the members by name.
import type { CharmDownload, CharmRelease, CharmSummary, ServedCharm } from '#contract/wire.ts';
import type { ShownRelease } from '#domain/packages/snap-catalog.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { CharmTexts, Revision, RevisionForJuju } from '#records/revisions/revisions.ts';
import { baseOf } from './bases.ts';
import type { RelatedCharms } from './related-charms.ts';

/** Members of the charm, from the revision that is deployed by default. */
export const presentSummary = (
  charm: PublishedPackage,
  { details: { said: declarations } }: Pick<Revision, 'details'>,
  { contains, usedBy }: RelatedCharms = { contains: [], usedBy: [] },
): CharmSummary => ({
  summary: charm.summary ?? '',
  description: charm.description ?? '',
  license: declarations?.license ?? '',
  ...(charm.title !== null && { title: charm.title }),
  publisher: publisherOf(charm),
  categories: (declarations?.categories ?? []).map((name) => ({ featured: false, name })),
  'contains-charms': contains.map(({ name, id }) => ({ name, 'package-id': id, 'store-url': '' })),
  'used-by': [...usedBy],
  'store-url': '',
});

/** juju reads only a map of strings. */
const publisherOf = ({
  publisher: { id, username, displayName, validation },
}: PublishedPackage): Record<string, string> => ({ id, username, 'display-name': displayName, validation });

export const isBundle = ({ type }: Pick<PublishedPackage, 'type'>): boolean => type === 'bundle';

export const typeOf = (charm: PublishedPackage): 'charm' | 'bundle' => (isBundle(charm) ? 'bundle' : 'charm');

/** The release of a channel for one base, without the texts of its files. */
export const presentRelease = (
  { held, channel: { track, risk, name } }: ShownRelease<Release>,
  revision: Revision,
): CharmRelease => ({
  channel: { name, base: baseOf(held), risk, track, 'released-at': held.releasedAt },
  revision: {
    revision: revision.revision,
    version: revision.version,
    bases: revision.details.bases ?? [],
    'created-at': revision.createdAt,
    download: { size: revision.size, 'hash-sha-256': revision.sha256 },
  },
});

/** The texts of the files of a charm; for a bundle, the bundle file. */
export const textsOf = (
  charm: PublishedPackage,
  { packageYaml, configYaml, actionsYaml }: Omit<CharmTexts, 'sha384'> & { packageYaml: string | null },
): Pick<ServedCharm, 'metadata-yaml' | 'config-yaml' | 'actions-yaml' | 'bundle-yaml'> =>
  isBundle(charm)
    ? { 'bundle-yaml': packageYaml ?? '' }
    : {
        'metadata-yaml': packageYaml ?? '',
        // juju does not accept an empty text, or one of comments only, as configuration; `{}` means none.
        'config-yaml': configYaml === null || saysNothing(configYaml) ? '{}\n' : configYaml,
        ...(actionsYaml !== null && !saysNothing(actionsYaml) && { 'actions-yaml': actionsYaml }),
      };

const saysNothing = (yaml: string): boolean => yaml.split('\n').every((line) => /^\s*(?:#|$)/.test(line));

/** The download URL of a revision and the digests that juju compares. The bytes at the URL never change. */
export const presentDownload = (
  { packageId, revision, size, sha256, sha384 }: RevisionForJuju,
  baseUrl: string,
): CharmDownload => ({
  url: `${baseUrl}/api/v1/charms/download/${packageId}_${revision}.charm`,
  size,
  'hash-sha-256': sha256,
  'hash-sha-384': sha384,
});

/** A revision with all members except its resources. */
export const presentCharm = (charm: PublishedPackage, revision: RevisionForJuju, baseUrl: string): ServedCharm => ({
  type: typeOf(charm),
  id: charm.id,
  name: charm.name,
  revision: revision.revision,
  version: revision.version,
  summary: charm.summary ?? '',
  description: charm.description ?? '',
  license: revision.details.said?.license ?? '',
  publisher: publisherOf(charm),
  bases: revision.details.bases ?? [],
  'created-at': revision.createdAt,
  download: presentDownload(revision, baseUrl),
  ...textsOf(charm, revision),
});
