// Releases of larder that were accepted with transfers, and are kept with all files of their folders.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface LarderRelease {
  version: string;
  /** The commit of its sources. */
  commitId: string | null;
  /** The day of the release. */
  released: string;
  /** The SHA-256 of its signed manifest. */
  manifest: string;
  /** The site that sent it. */
  source: string;
  acceptedAt: string;
  /** The actor as in the audit log. */
  acceptedBy: string;
}

/** A file of the folder of a release. */
export interface LarderReleaseFile {
  name: string;
  sha3_384: string;
  size: number;
}

const larderReleaseColumns = columns`
  version, commit_id AS "commitId", released, manifest, source, accepted_at AS "acceptedAt", accepted_by AS "acceptedBy"`;

export const larderReleases = (db: ReadQueries) => ({
  /** Lists the kept releases, the last accepted one first. */
  list: () =>
    db.all<LarderRelease>(
      sql`SELECT ${larderReleaseColumns} FROM larder_releases ORDER BY accepted_at DESC, version DESC`,
    ),

  find: (version: string) =>
    db.get<LarderRelease>(sql`SELECT ${larderReleaseColumns} FROM larder_releases WHERE version = ${version}`),

  /** Lists the files of a kept release by name. */
  files: (version: string) =>
    db.all<LarderReleaseFile>(sql`
      SELECT name, sha3_384, size FROM larder_release_files WHERE version = ${version} ORDER BY name`),
});

export const larderReleaseChanges = (db: Queries) => ({
  ...larderReleases(db),

  async add(release: LarderRelease, files: readonly LarderReleaseFile[]): Promise<void> {
    const { version } = release;
    await db.run(sql`
      INSERT INTO larder_releases (version, commit_id, released, manifest, source, accepted_at, accepted_by)
      VALUES (${version}, ${release.commitId}, ${release.released}, ${release.manifest}, ${release.source},
        ${release.acceptedAt}, ${release.acceptedBy})`);
    for (const { name, sha3_384, size } of files)
      await db.run(sql`
        INSERT INTO larder_release_files (version, name, sha3_384, size)
        VALUES (${version}, ${name}, ${sha3_384}, ${size})`);
  },

  /** Removes a release with the rows of its files. The sweep removes the files. */
  remove: (version: string) => db.run(sql`DELETE FROM larder_releases WHERE version = ${version}`),
});
