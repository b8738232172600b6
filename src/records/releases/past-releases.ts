// Past releases: who released which revision to a channel, when, and the revision before it.
import { columns, list, sql, type Queries } from '#engine/database.ts';
import type { Release } from './releases.ts';

type PastReleaseResource = Release['resources'][number];

export interface PastRelease {
  packageId: string;
  channel: string;
  slot: string;
  /** Null if the slot was emptied. */
  revision: number | null;
  /** The revision that the slot gave to all devices before. */
  before: number | null;
  percentage: number | null;
  paused: boolean | null;
  /** The resources or components of the release; null if it is older than this record. */
  resources: PastReleaseResource[] | null;
  /** RFC 3339; null if the release had no end, or is older than this record. */
  expiresAt: string | null;
  releasedAt: string;
  /** The actor as in the audit log: an account id, `cli:<user>`, or `larder`. Null if the release is older than this record. */
  releasedBy: string | null;
}

/** A past state of a slot. */
type PastSlotState = Pick<PastRelease, 'channel' | 'slot' | 'resources' | 'expiresAt' | 'releasedAt'> & {
  revision: number;
};

type ResourcesColumn = { resources: string | null };
/** Whether releases in a channel, by its full name, count. */
type ChannelFilter = (channel: string) => boolean;

type PastReleaseRow = Omit<PastRelease, 'paused' | 'resources'> &
  ResourcesColumn & { seq: number; paused: 0 | 1 | null };

const pastColumns = columns`
  package_id AS "packageId", seq, channel, slot, revision, before, percentage, paused, resources, expires_at AS "expiresAt",
  released_at AS "releasedAt", released_by AS "releasedBy"`;

const readResources = (text: string | null): PastReleaseResource[] | null =>
  JSON.parse(text ?? 'null') as PastReleaseResource[] | null;

const asRelease = (row: PastReleaseRow) => ({
  ...row,
  paused: row.paused === null ? null : row.paused === 1,
  resources: readResources(row.resources),
});

export const pastReleases = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the releases with a number below `before`, newest first. The releases of a package are numbered in order. */
  async newest(packageId: string, before: number, limit: number): Promise<(PastRelease & { seq: number })[]> {
    const rows = await db.all<PastReleaseRow>(sql`
      SELECT ${pastColumns}
      FROM past_releases WHERE package_id = ${packageId} AND seq < ${before} ORDER BY seq DESC LIMIT ${limit}`);
    return rows.map(asRelease);
  },

  /** Lists the releases with a number above `after`, oldest first. */
  async oldest(packageId: string, after: number, limit: number): Promise<(PastRelease & { seq: number })[]> {
    const rows = await db.all<PastReleaseRow>(sql`
      SELECT ${pastColumns}
      FROM past_releases WHERE package_id = ${packageId} AND seq > ${after} ORDER BY seq LIMIT ${limit}`);
    return rows.map(asRelease);
  },

  /** Lists at most 1000 revisions that a channel gave to all devices in one of these slots before `until`, newest first. */
  everHeld: async (packageId: string, channel: string, slots: readonly string[], until = '9999'): Promise<number[]> =>
    (
      await db.all<{ revision: number }>(sql`
        SELECT DISTINCT revision FROM past_releases
        WHERE package_id = ${packageId} AND channel = ${channel} AND slot IN ${list(slots)} AND revision IS NOT NULL
          AND percentage IS NULL AND released_at <= ${until}
        ORDER BY revision DESC LIMIT 1000`)
    ).map(({ revision }) => revision),

  /** Lists the channels of a package that had a release once and have none now. */
  closed: async (packageId: string): Promise<string[]> =>
    (
      await db.all<{ channel: string }>(sql`
        SELECT DISTINCT channel FROM past_releases
        WHERE package_id = ${packageId} AND channel NOT IN (SELECT channel FROM releases WHERE package_id = ${packageId})
        ORDER BY channel`)
    ).map(({ channel }) => channel),

  /** Returns the resources of the newest release of a revision; undefined if it was never released, or is older than this record. */
  async resourcesOf(
    packageId: string,
    revision: number,
    counts: ChannelFilter = () => true,
  ): Promise<PastReleaseResource[] | undefined> {
    const rows = await db.all<ResourcesColumn & { channel: string }>(sql`
      SELECT channel, resources FROM past_releases
      WHERE package_id = ${packageId} AND revision = ${revision} AND resources IS NOT NULL ORDER BY seq DESC`);
    return readResources(rows.find(({ channel }) => counts(channel))?.resources ?? null) ?? undefined;
  },

  /** Returns whether a release of a package included this revision of a resource. */
  async hasIncluded(
    packageId: string,
    name: string,
    revision: number,
    counts: ChannelFilter = () => true,
  ): Promise<boolean> {
    const rows = await db.all<ResourcesColumn & { channel: string }>(sql`
      SELECT DISTINCT channel, resources FROM past_releases WHERE package_id = ${packageId} AND resources IS NOT NULL`);
    return rows.some(
      ({ channel, resources }) =>
        counts(channel) &&
        readResources(resources)?.some((resource) => resource.name === name && resource.revision === revision),
    );
  },

  /** Returns whether a channel that counts ever held a revision. */
  async hasHeld(packageId: string, revision: number, counts: ChannelFilter): Promise<boolean> {
    const rows = await db.all<{ channel: string }>(sql`
      SELECT DISTINCT channel FROM past_releases WHERE package_id = ${packageId} AND revision = ${revision}`);
    return rows.some(({ channel }) => counts(channel));
  },

  /** Returns the revisions that the channels of a package gave to all devices at the time `at`. */
  async heldAt(packageId: string, at: string): Promise<PastSlotState[]> {
    const rows = await db.all<Omit<PastSlotState, 'resources'> & ResourcesColumn>(sql`
      SELECT channel, slot, revision, resources, expires_at AS "expiresAt", released_at AS "releasedAt"
      FROM past_releases
      WHERE package_id = ${packageId} AND revision IS NOT NULL AND seq IN (
        SELECT MAX(seq) FROM past_releases
        WHERE package_id = ${packageId} AND percentage IS NULL AND released_at <= ${at}
        GROUP BY channel, slot)
      ORDER BY channel, slot`);
    return rows.map((row) => ({ ...row, resources: readResources(row.resources) }));
  },
});

export const pastReleaseChanges = (db: Queries) => ({
  ...pastReleases(db),

  add: (past: PastRelease) =>
    db.write(sql`
      INSERT INTO past_releases (package_id, seq, channel, slot, revision, before, percentage, paused, resources,
        expires_at, released_at, released_by)
      VALUES (${past.packageId},
        (SELECT coalesce(max(seq), 0) + 1 FROM past_releases WHERE package_id = ${past.packageId}),
        ${past.channel}, ${past.slot}, ${past.revision}, ${past.before}, ${past.percentage},
        ${past.paused === null ? null : Number(past.paused)}, ${past.resources && JSON.stringify(past.resources)},
        ${past.expiresAt}, ${past.releasedAt}, ${past.releasedBy})`),
});
