// Releases: the revisions that each channel of a package holds now.
import { isProgressive, type SlotRelease } from '#domain/releases/channel-map.ts';
import type { RolloutPlan } from '#domain/releases/rollout.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Release extends SlotRelease {
  packageId: string;
  resources: { name: string; revision: number | null; type: string }[];
  releasedAt: string;
  /** The number of the rollout that raises the percentage, and its plan. A planned release has no number yet. */
  rollout?: number;
  plan?: RolloutPlan;
}

type ReleaseRow = Omit<Release, 'progressive' | 'resources' | 'rollout' | 'plan'> & {
  rollout: number | null;
  plan?: string | null;
  paused: 0 | 1 | null;
  percentage: number | null;
  resources: string;
};

const asRelease = ({ paused, percentage, rollout, plan, ...row }: ReleaseRow): Release => ({
  ...row,
  ...(rollout !== null && { rollout }),
  ...(typeof plan === 'string' && { plan: JSON.parse(plan) as RolloutPlan }),
  progressive: { paused: paused === null ? null : paused === 1, percentage },
  resources: JSON.parse(row.resources) as Release['resources'],
});

const releaseColumns = columns`
  package_id AS "packageId", channel, slot, architecture, base_name AS "baseName", base_channel AS "baseChannel",
  revision, progressive_paused AS paused, progressive_percentage AS percentage, resources,
  released_at AS "releasedAt", expires_at AS "expiresAt", rollout`;

const planColumn = columns`(SELECT plan FROM rollouts WHERE number = releases.rollout) AS plan`;

export const releases = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the releases of a package, including expired ones, without the plans of rollouts: devices do not need them. */
  async held(packageId: string): Promise<Release[]> {
    const rows = await db.all<ReleaseRow>(sql`
      SELECT ${releaseColumns} FROM releases WHERE package_id = ${packageId} ORDER BY channel, slot, progressive`);
    return rows.map(asRelease);
  },

  /** Lists the releases of a package that have not expired by `now`. */
  async current(packageId: string, now: string): Promise<Release[]> {
    const rows = await db.all<ReleaseRow>(sql`
      SELECT ${releaseColumns}, ${planColumn}
      FROM releases
      WHERE package_id = ${packageId} AND (expires_at IS NULL OR expires_at > ${now})
      ORDER BY channel, slot, progressive`);
    return rows.map(asRelease);
  },

  /** Lists the releases in one channel that have not expired by `now`. */
  async inChannel(packageId: string, channel: string, now: string): Promise<Release[]> {
    const rows = await db.all<ReleaseRow>(sql`
      SELECT ${releaseColumns}, ${planColumn}
      FROM releases
      WHERE package_id = ${packageId} AND channel = ${channel} AND (expires_at IS NULL OR expires_at > ${now})
      ORDER BY slot, progressive`);
    return rows.map(asRelease);
  },

  /** Lists the releases of a revision in any channel that have not expired by `now`. */
  async holding(packageId: string, revision: number, now: string): Promise<Release[]> {
    const rows = await db.all<ReleaseRow>(sql`
      SELECT ${releaseColumns}, ${planColumn}
      FROM releases
      WHERE package_id = ${packageId} AND revision = ${revision} AND (expires_at IS NULL OR expires_at > ${now})
      ORDER BY channel, slot, progressive`);
    return rows.map(asRelease);
  },

  anyExpired: async (now: string) =>
    undefined !==
    (await db.get(sql`SELECT 1 FROM releases WHERE expires_at IS NOT NULL AND expires_at <= ${now} LIMIT 1`)),

  /** The latest end of the ended releases that are not removed yet; null if there is none. */
  lastEnd: async (now: string): Promise<string | null> =>
    (await db.get<{ at: string | null }>(sql`
      SELECT max(expires_at) AS at FROM releases WHERE expires_at IS NOT NULL AND expires_at <= ${now}`))!.at,
});

export const releaseChanges = (db: Queries) => ({
  ...releases(db),

  /** Sets the release of a slot, and replaces its earlier release. */
  fill: (r: Release) =>
    db.write(sql`
      INSERT INTO releases (package_id, channel, slot, progressive, architecture, base_name, base_channel, revision, progressive_paused,
        progressive_percentage, resources, released_at, expires_at, rollout)
      VALUES (${r.packageId}, ${r.channel}, ${r.slot}, ${Number(isProgressive(r.progressive))}, ${r.architecture}, ${r.baseName}, ${r.baseChannel}, ${r.revision},
        ${r.progressive.paused === null ? null : Number(r.progressive.paused)}, ${r.progressive.percentage},
        ${JSON.stringify(r.resources)}, ${r.releasedAt}, ${r.expiresAt}, ${r.rollout ?? null})
      ON CONFLICT (package_id, channel, slot, progressive) DO UPDATE
      SET architecture = excluded.architecture, base_name = excluded.base_name, base_channel = excluded.base_channel,
        revision = excluded.revision, progressive_paused = excluded.progressive_paused,
        progressive_percentage = excluded.progressive_percentage, resources = excluded.resources,
        released_at = excluded.released_at, expires_at = excluded.expires_at, rollout = excluded.rollout`),

  /** Ends the progressive release of a slot. */
  endProgress: (packageId: string, channel: string, slot: string) =>
    db.write(sql`
      DELETE FROM releases
      WHERE package_id = ${packageId} AND channel = ${channel} AND slot = ${slot} AND progressive = 1`),

  /** Empties one slot, or ends its progressive release. */
  empty: ({ packageId, channel, slot, progressive }: Pick<Release, 'packageId' | 'channel' | 'slot' | 'progressive'>) =>
    db.write(sql`
      DELETE FROM releases
      WHERE package_id = ${packageId} AND channel = ${channel} AND slot = ${slot}
        AND progressive = ${Number(isProgressive(progressive))}`),

  /** Empties every slot of a channel. */
  close: (packageId: string, channel: string) =>
    db.write(sql`DELETE FROM releases WHERE package_id = ${packageId} AND channel = ${channel}`),

  /** Empties every slot with a revision, in all channels. */
  remove: (packageId: string, revision: number) =>
    db.write(sql`DELETE FROM releases WHERE package_id = ${packageId} AND revision = ${revision}`),

  /** Deletes expired releases of branches. */
  removeExpired: (now: string) =>
    db.run(sql`DELETE FROM releases WHERE expires_at IS NOT NULL AND expires_at <= ${now}`),
});
