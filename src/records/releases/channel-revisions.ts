// The content of all channels with the revisions themselves, for scans of the whole store.
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

/** The revision that one slot of a channel holds. */
export interface ChannelRevision {
  packageId: string;
  name: string;
  /** The type of the package: snap, charm or bundle. */
  type: string;
  channel: string;
  slot: string;
  progressive: 0 | 1;
  architecture: string | null;
  revision: number;
  /** JSON: the resources released with it; null for a resource without a revision. */
  resources: string;
  /** JSON: the `RevisionDetails` of the revision. */
  details: string;
  packageYaml: string | null;
}

export type SlotKey = Pick<ChannelRevision, 'packageId' | 'channel' | 'slot' | 'progressive'>;

/** The key of a slot, and the order of scans. */
const place = columns`releases.package_id, channel, slot, progressive`;

export const heldRevisions = (db: Pick<Queries, 'all'>) => ({
  /** Lists slots in the order of their keys, beginning after the given key. */
  page: (namespace: PackageNamespace, { packageId, channel, slot, progressive }: SlotKey, limit: number) =>
    db.all<ChannelRevision>(sql`
      SELECT releases.package_id AS "packageId", packages.name AS name, packages.type AS type, channel, slot, progressive,
        releases.architecture AS architecture, releases.revision AS revision, releases.resources AS resources,
        revisions.details AS details, package_yaml AS "packageYaml"
      FROM releases
      CROSS JOIN packages
      CROSS JOIN revisions
      WHERE packages.id = releases.package_id AND packages.namespace = ${namespace}
        AND revisions.package_id = releases.package_id AND revisions.revision = releases.revision
        AND (${place}) > (${packageId}, ${channel}, ${slot}, ${progressive})
      ORDER BY ${place} LIMIT ${limit}`),

  /** Returns the texts of released bundles that contain this name of a charm anywhere. */
  bundlesNaming: async (charm: string): Promise<string[]> =>
    (
      await db.all<{ text: string }>(sql`
        SELECT DISTINCT package_yaml AS text FROM packages
        CROSS JOIN releases
        CROSS JOIN revisions
        WHERE packages.type = 'bundle' AND releases.package_id = packages.id
          AND revisions.package_id = releases.package_id AND revisions.revision = releases.revision
          AND package_yaml LIKE ${`%${charm}%`}`)
    ).map(({ text }) => text),

  /** Lists public, released bundles with texts that contain this name of a charm anywhere, among the first `maxBundles` bundles. */
  publicBundlesNaming: (charm: string, maxBundles: number) =>
    db.all<{ name: string; text: string }>(sql`
      SELECT DISTINCT bundle.name AS name, package_yaml AS text
      FROM (
        SELECT id, name FROM packages
        WHERE type = 'bundle' AND private = 0 AND status = 'published' ORDER BY id LIMIT ${maxBundles}) AS bundle
      CROSS JOIN releases
      CROSS JOIN revisions
      WHERE releases.package_id = bundle.id
        AND revisions.package_id = releases.package_id AND revisions.revision = releases.revision
        AND package_yaml LIKE ${`%${charm}%`}
      ORDER BY bundle.name`),
});
