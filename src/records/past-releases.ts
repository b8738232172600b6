// Past releases: who put what into which channel, when, and what was there before.
import { columns, list, sql, type Queries } from '#engine/database.ts';
import type { Release } from './releases.ts';

type ReleasedResource = Release['resources'][number];

export interface PastRelease {
  packageId: string;
  channel: string;
  slot: string;
  /** Nothing where the slot was emptied. */
  revision: number | null;
  /** What the slot held for everybody before. */
  before: number | null;
  percentage: number | null;
  paused: boolean | null;
  /** The resources or components that it gave; null for one that was made before these were kept. */
  resources: ReleasedResource[] | null;
  /** RFC 3339; null if it did not end by itself, or was made before this was kept. */
  expiresAt: string | null;
  releasedAt: string;
  /** As the audit log writes it; nobody where it was released before this was kept. */
  releasedBy: string | null;
}

/** What a slot held once. */
type HeldAt = Pick<PastRelease, 'channel' | 'slot' | 'resources' | 'expiresAt' | 'releasedAt'> & { revision: number };

type Texts = { resources: string | null };
type Row = Omit<PastRelease, 'paused' | 'resources'> & Texts & { seq: number; paused: 0 | 1 | null };

const pastColumns = columns`
  package_id AS "packageId", seq, channel, slot, revision, before, percentage, paused, resources, expires_at AS "expiresAt",
  released_at AS "releasedAt", released_by AS "releasedBy"`;

const readResources = (text: string | null): ReleasedResource[] | null =>
  JSON.parse(text ?? 'null') as ReleasedResource[] | null;

const asRelease = (row: Row) => ({
  ...row,
  paused: row.paused === null ? null : row.paused === 1,
  resources: readResources(row.resources),
});

export const pastReleases = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** The newest first, those before a number; the number of each counts up within its package. */
  async newest(packageId: string, before: number, limit: number): Promise<(PastRelease & { seq: number })[]> {
    const rows = await db.all<Row>(sql`
      SELECT ${pastColumns}
      FROM past_releases WHERE package_id = ${packageId} AND seq < ${before} ORDER BY seq DESC LIMIT ${limit}`);
    return rows.map(asRelease);
  },

  /** The oldest ones after a number, the oldest first. */
  async oldest(packageId: string, after: number, limit: number): Promise<(PastRelease & { seq: number })[]> {
    const rows = await db.all<Row>(sql`
      SELECT ${pastColumns}
      FROM past_releases WHERE package_id = ${packageId} AND seq > ${after} ORDER BY seq LIMIT ${limit}`);
    return rows.map(asRelease);
  },

  /** The revisions that one of these slots of a channel held for everybody, the newest first, a thousand at most; those until a moment. */
  everHeld: async (packageId: string, channel: string, slots: readonly string[], until = '9999'): Promise<number[]> =>
    (
      await db.all<{ revision: number }>(sql`
        SELECT DISTINCT revision FROM past_releases
        WHERE package_id = ${packageId} AND channel = ${channel} AND slot IN ${list(slots)} AND revision IS NOT NULL
          AND percentage IS NULL AND released_at <= ${until}
        ORDER BY revision DESC LIMIT 1000`)
    ).map(({ revision }) => revision),

  /** The channels of a package that held something once, and hold nothing now. */
  closed: async (packageId: string): Promise<string[]> =>
    (
      await db.all<{ channel: string }>(sql`
        SELECT DISTINCT channel FROM past_releases
        WHERE package_id = ${packageId} AND channel NOT IN (SELECT channel FROM releases WHERE package_id = ${packageId})
        ORDER BY channel`)
    ).map(({ channel }) => channel),

  /** What the newest release of a revision gave beside it; undefined if it was never released, or before this was kept. */
  async resourcesOf(packageId: string, revision: number): Promise<ReleasedResource[] | undefined> {
    const row = await db.get<Texts>(sql`
      SELECT resources FROM past_releases
      WHERE package_id = ${packageId} AND revision = ${revision} AND resources IS NOT NULL ORDER BY seq DESC LIMIT 1`);
    return readResources(row?.resources ?? null) ?? undefined;
  },

  /** Whether any release of a package gave this revision of a resource. */
  async hasGiven(packageId: string, name: string, revision: number): Promise<boolean> {
    const rows = await db.all<Texts>(sql`
      SELECT DISTINCT resources FROM past_releases WHERE package_id = ${packageId} AND resources IS NOT NULL`);
    return rows.some(({ resources }) =>
      readResources(resources)?.some((one) => one.name === name && one.revision === revision),
    );
  },

  /** What the channels of a package held for everybody at a moment. */
  async heldAt(packageId: string, at: string): Promise<HeldAt[]> {
    const rows = await db.all<Omit<HeldAt, 'resources'> & Texts>(sql`
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
    db.run(sql`
      INSERT INTO past_releases (package_id, seq, channel, slot, revision, before, percentage, paused, resources,
        expires_at, released_at, released_by)
      SELECT ${past.packageId}, coalesce(max(seq), 0) + 1, ${past.channel}, ${past.slot}, ${past.revision}, ${past.before},
        ${past.percentage}, ${past.paused === null ? null : Number(past.paused)},
        ${past.resources && JSON.stringify(past.resources)}, ${past.expiresAt}, ${past.releasedAt}, ${past.releasedBy}
      FROM past_releases WHERE package_id = ${past.packageId}`),
});
