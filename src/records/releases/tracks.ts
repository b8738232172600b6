// Tracks: the lines of development that a package releases to. Every package has `latest`, with a row only if it has settings.
import type { RolloutPlan } from '#domain/releases/rollout.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Track {
  name: string;
  versionPattern: string | null;
  automaticPhasingPercentage: number | null;
  /** The plan of releases to its channels; undefined if the percentage alone says it, or without steps. */
  rollout?: RolloutPlan | undefined;
  createdAt: string;
}

type TrackRow = Omit<Track, 'rollout'> & { rollout: string | null };

const asTrack = <Row extends TrackRow>({ rollout, ...row }: Row): Omit<Row, 'rollout'> & Track => ({
  ...row,
  ...(rollout !== null && { rollout: JSON.parse(rollout) as RolloutPlan }),
});

const trackColumns = columns`
  name, version_pattern AS "versionPattern", automatic_phasing_percentage AS "automaticPhasingPercentage",
  created_at AS "createdAt"`;

export const tracks = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists a package's tracks: `latest` first, then in the order of creation. */
  list: async (packageId: string): Promise<Track[]> =>
    (
      await db.all<TrackRow>(sql`
        SELECT ${trackColumns}, (
          SELECT rollout FROM tracks WHERE tracks.package_id = package_tracks.package_id AND tracks.name = package_tracks.name) AS rollout
        FROM package_tracks WHERE package_id = ${packageId}
        ORDER BY name <> 'latest', created_at, name`)
    ).map(asTrack),

  /** Finds the settings of a track; undefined if it has none: a missing track, or `latest` without a row. */
  async find(packageId: string, name: string): Promise<Track | undefined> {
    const row = await db.get<TrackRow>(sql`
      SELECT ${trackColumns}, rollout FROM tracks WHERE package_id = ${packageId} AND name = ${name}`);
    return row && asTrack(row);
  },

  /** Returns whether a package has a track; `latest` needs no query. */
  has: async (packageId: string, name: string) =>
    name === 'latest' ||
    undefined !== (await db.get(sql`SELECT 1 FROM tracks WHERE package_id = ${packageId} AND name = ${name}`)),

  /**
   * Lists the tracks with a row, of all packages that an account publishes or collaborates on in a namespace; `withLatest` adds the missing
   * `latest` tracks. For a thousand packages these would be a thousand rows, a third of all data read for the list. PostgreSQL starts with
   * the smaller of packages and tracks, as long as the two queries are joined separately.
   */
  ofAccount: async (accountId: string, namespace: string): Promise<(Track & { packageId: string })[]> =>
    (
      await db.all<TrackRow & { packageId: string }>(sql`
      SELECT package_id AS "packageId", ${trackColumns}, rollout
      FROM (
        SELECT tracks.* FROM packages CROSS JOIN tracks
        WHERE publisher_id = ${accountId} AND namespace = ${namespace} AND package_id = packages.id
        UNION ALL
        SELECT tracks.* FROM collaborators CROSS JOIN packages CROSS JOIN tracks
        WHERE account_id = ${accountId} AND packages.id = collaborators.package_id AND namespace = ${namespace}
          AND publisher_id <> ${accountId} AND tracks.package_id = packages.id
      ) AS listed
      ORDER BY name <> 'latest', created_at, name`)
    ).map(asTrack),
});

/** Adds `latest` to the tracks of a package if it has no row. */
export const withLatest = (own: Track[], { createdAt }: { createdAt: string }): Track[] =>
  own[0]?.name === 'latest'
    ? own
    : [{ name: 'latest', versionPattern: null, automaticPhasingPercentage: null, createdAt }, ...own];

const writtenColumns = columns`package_id, name, version_pattern, automatic_phasing_percentage, rollout, created_at`;

const planColumn = ({ rollout }: Pick<Track, 'rollout'>): string | null =>
  rollout === undefined ? null : JSON.stringify(rollout);

export const trackChanges = (db: Queries) => ({
  ...tracks(db),
  add: (packageId: string, track: Track) =>
    db.write(sql`
      INSERT INTO tracks (${writtenColumns})
      VALUES (${packageId}, ${track.name}, ${track.versionPattern}, ${track.automaticPhasingPercentage}, ${planColumn(track)},
        ${track.createdAt})`),

  /** Updates an existing track; `latest` gets its row here. */
  update: (packageId: string, track: Omit<Track, 'createdAt'>) =>
    db.write(sql`
      INSERT INTO tracks (${writtenColumns})
      SELECT id, ${track.name}, ${track.versionPattern}, ${track.automaticPhasingPercentage}, ${planColumn(track)}, created_at
      FROM packages WHERE id = ${packageId}
      ON CONFLICT (package_id, name) DO UPDATE
      SET version_pattern = excluded.version_pattern, automatic_phasing_percentage = excluded.automatic_phasing_percentage,
        rollout = excluded.rollout`),

  remove: (packageId: string, name: string) =>
    db.write(sql`DELETE FROM tracks WHERE package_id = ${packageId} AND name = ${name}`),
});
