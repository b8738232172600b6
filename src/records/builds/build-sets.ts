// Build sets: the builds of one commit of a package by build hosts, one build per platform.
import type { BuildStatus } from '#domain/builds/build-status.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface Platform {
  name: string | null;
  channel: string | null;
  architectures: string[];
}

export interface BuildError {
  code: string;
  message: string;
}

export interface Build {
  buildSetId: string;
  id: string;
  status: BuildStatus;
  errors: BuildError[];
  platform: Platform;
  logs: { externalBuildUrl: string | null } | null;
  /** The channel that the build was released to, by its full name. */
  releasedChannel: string | null;
  releasedRevision: number | null;
  createdAt: string;
  completedAt: string | null;
}

export interface BuildSet {
  id: string;
  packageId: string;
  commitHash: string;
  craftChannel: string;
  craftRevision: number;
  craftVersion: string;
  platforms: Platform[];
  triggers: { type: 'manual' | 'commit' }[];
  /** As the build host reported it. The store only compares it with the filter of a listing. */
  plane: string | null;
  createdAt: string;
}

/** Filters of a listing; null matches everything. */
export interface BuildSetFilter {
  id: string | null;
  channel: string | null;
  plane: string | null;
  status: string | null;
}

type SetRow = Omit<BuildSet, 'platforms' | 'triggers'> & { platforms: string; triggers: string };
type BuildRow = Omit<Build, 'errors' | 'platform' | 'logs'> & { errors: string; platform: string; logs: string | null };

const asBuildSet = (row: SetRow): BuildSet => ({
  ...row,
  platforms: JSON.parse(row.platforms) as Platform[],
  triggers: JSON.parse(row.triggers) as BuildSet['triggers'],
});

const asBuild = (row: BuildRow): Build => ({
  ...row,
  errors: JSON.parse(row.errors) as BuildError[],
  platform: JSON.parse(row.platform) as Platform,
  logs: JSON.parse(row.logs ?? 'null') as Build['logs'],
});

const buildSetColumns = columns`
  id, package_id AS "packageId", commit_hash AS "commitHash", craft_channel AS "craftChannel",
  craft_revision AS "craftRevision", craft_version AS "craftVersion", platforms, triggers, plane,
  created_at AS "createdAt"`;

export const buildSets = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(id: string): Promise<BuildSet | undefined> {
    const row = await db.get<SetRow>(sql`
      SELECT ${buildSetColumns}
      FROM build_sets WHERE id = ${id}`);
    return row && asBuildSet(row);
  },

  /** Lists a package's build sets, newest first. With a status, only sets that have a build in that status. */
  async list(packageId: string, filter: BuildSetFilter, limit: number): Promise<BuildSet[]> {
    const rows = await db.all<SetRow>(sql`
      SELECT ${buildSetColumns}
      FROM build_sets
      WHERE package_id = ${packageId}
        AND (${filter.id} IS NULL OR id = ${filter.id})
        AND (${filter.channel} IS NULL OR craft_channel = ${filter.channel})
        AND (${filter.plane} IS NULL OR plane = ${filter.plane})
        AND (${filter.status} IS NULL OR EXISTS (
          SELECT 1 FROM builds WHERE builds.build_set_id = build_sets.id AND builds.status = ${filter.status}))
      ORDER BY created_at DESC, seq DESC LIMIT ${limit}`);
    return rows.map(asBuildSet);
  },

  /** Lists the builds of these sets, in the order of the ids. */
  async buildsOf(ids: string[]): Promise<Build[]> {
    const rows = await db.all<BuildRow>(sql`
      SELECT build_set_id AS "buildSetId", id, status, errors, platform, logs, released_channel AS "releasedChannel",
        released_revision AS "releasedRevision", created_at AS "createdAt", completed_at AS "completedAt"
      FROM builds WHERE build_set_id IN ${list(ids)}
      ORDER BY build_set_id, position`);
    const builds = Map.groupBy(rows.map(asBuild), ({ buildSetId }) => buildSetId);
    return ids.flatMap((id) => builds.get(id) ?? []);
  },

  /** Returns the commits of a package's revisions, by revision, if build hosts have reported them. */
  async commitsOf(packageId: string, revisions: number[]): Promise<Map<number, string>> {
    const rows = await db.all<{ revision: number; commitHash: string }>(sql`
      SELECT builds.released_revision AS revision, build_sets.commit_hash AS "commitHash"
      FROM builds JOIN build_sets ON build_sets.id = builds.build_set_id
      WHERE builds.package_id = ${packageId} AND builds.released_revision IN ${list(revisions)}
      ORDER BY build_sets.created_at, build_sets.seq`);
    return new Map(rows.map(({ revision, commitHash }) => [revision, commitHash]));
  },
});

export const buildSetChanges = (db: Queries) => ({
  ...buildSets(db),

  add: (s: BuildSet) =>
    db.run(sql`
      INSERT INTO build_sets (id, package_id, commit_hash, craft_channel, craft_revision, craft_version, platforms, triggers,
        plane, created_at, seq)
      VALUES (${s.id}, ${s.packageId}, ${s.commitHash}, ${s.craftChannel}, ${s.craftRevision}, ${s.craftVersion},
        ${JSON.stringify(s.platforms)}, ${JSON.stringify(s.triggers)}, ${s.plane}, ${s.createdAt},
        (SELECT COALESCE(MAX(seq), 0) + 1 FROM build_sets))`),

  /** Adds a build to its set, or updates it. */
  putBuild: (packageId: string, position: number, b: Build) =>
    db.run(sql`
      INSERT INTO builds (build_set_id, id, position, package_id, status, errors, platform, logs, released_channel,
        released_revision, created_at, completed_at)
      VALUES (${b.buildSetId}, ${b.id}, ${position}, ${packageId}, ${b.status}, ${JSON.stringify(b.errors)},
        ${JSON.stringify(b.platform)}, ${b.logs && JSON.stringify(b.logs)}, ${b.releasedChannel}, ${b.releasedRevision},
        ${b.createdAt}, ${b.completedAt})
      ON CONFLICT (build_set_id, id) DO UPDATE
      SET status = excluded.status, errors = excluded.errors, logs = excluded.logs,
        released_channel = excluded.released_channel, released_revision = excluded.released_revision,
        completed_at = excluded.completed_at`),
});
