// Charm libraries: code that charms share, in versions with an API and a patch number.
import { sql, type Queries } from '#engine/database.ts';

export interface CharmLibrary {
  id: string;
  packageId: string;
  name: string;
}

/** A version of a library, with the name of the charm that publishes it. */
export interface LibraryVersion {
  libraryId: string;
  libraryName: string;
  charmName: string;
  packageId: string;
  publisherId: string;
  private: boolean;
  api: number;
  patch: number;
  hash: string;
  content: string;
}

/** A version as its publisher made it. */
export interface PublishedVersion {
  api: number;
  patch: number;
  hash: string;
  createdAt: string;
  createdBy: string;
}

/** Selects a version of a library; null selects the newest. */
export interface LibraryFilter {
  libraryId: string;
  api: number | null;
  patch: number | null;
}

type LibraryVersionRow = Omit<LibraryVersion, 'private'> & { private: 0 | 1 };

const asVersion = (row: LibraryVersionRow): LibraryVersion => ({ ...row, private: row.private === 1 });

export const charmLibraries = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (packageId: string, id: string) =>
    db.get<CharmLibrary>(sql`
      SELECT id, package_id AS "packageId", name FROM charm_libraries WHERE id = ${id} AND package_id = ${packageId}`),

  findByName: (packageId: string, name: string) =>
    db.get<CharmLibrary>(sql`
      SELECT id, package_id AS "packageId", name FROM charm_libraries WHERE package_id = ${packageId} AND name = ${name}`),

  byId: (id: string) =>
    db.get<CharmLibrary>(sql`
      SELECT id, package_id AS "packageId", name FROM charm_libraries WHERE id = ${id}`),

  /** Lists the libraries of a package, by name. */
  list: (packageId: string) =>
    db.all<CharmLibrary>(sql`
      SELECT id, package_id AS "packageId", name FROM charm_libraries WHERE package_id = ${packageId} ORDER BY name`),

  /** Lists all versions of a library without their content, oldest first. */
  versions: (libraryId: string) =>
    db.all<PublishedVersion>(sql`
      SELECT api, patch, hash, created_at AS "createdAt", created_by AS "createdBy"
      FROM charm_library_versions WHERE library_id = ${libraryId} ORDER BY api, patch`),

  /** Returns the selected version of a library. */
  async version(filter: LibraryFilter): Promise<LibraryVersion | undefined> {
    const row = await db.get<LibraryVersionRow>(sql`
      SELECT library.id AS "libraryId", library.name AS "libraryName", package.name AS "charmName",
        package.id AS "packageId", package.publisher_id AS "publisherId", package.private, version.api, version.patch,
        version.hash, version.content
      FROM charm_libraries AS library
      JOIN packages AS package ON package.id = library.package_id
      JOIN charm_library_versions AS version ON version.library_id = library.id
      WHERE library.id = ${filter.libraryId}
        AND (${filter.api} IS NULL OR version.api = ${filter.api})
        AND (${filter.patch} IS NULL OR version.patch = ${filter.patch})
      ORDER BY version.api DESC, version.patch DESC LIMIT 1`);
    return row && asVersion(row);
  },

  /** Returns the ids of a charm's libraries, or of its library with this name. */
  async idsOf(charmName: string, libraryName: string | null): Promise<string[]> {
    const rows = await db.all<{ id: string }>(sql`
      SELECT library.id
      FROM packages AS package
      JOIN charm_libraries AS library ON library.package_id = package.id
      WHERE package.namespace = 'charm' AND package.name = ${charmName}
        AND (${libraryName} IS NULL OR library.name = ${libraryName})
      ORDER BY library.name`);
    return rows.map(({ id }) => id);
  },
});

export const charmLibraryChanges = (db: Queries) => ({
  ...charmLibraries(db),

  add: (library: CharmLibrary & { createdAt: string }) =>
    db.run(sql`
      INSERT INTO charm_libraries (id, package_id, name, created_at)
      VALUES (${library.id}, ${library.packageId}, ${library.name}, ${library.createdAt})`),

  addVersion: (v: {
    libraryId: string;
    api: number;
    patch: number;
    hash: string;
    content: string;
    at: string;
    actor: string;
  }) =>
    db.run(sql`
      INSERT INTO charm_library_versions (library_id, api, patch, hash, content, created_at, created_by)
      VALUES (${v.libraryId}, ${v.api}, ${v.patch}, ${v.hash}, ${v.content}, ${v.at}, ${v.actor})`),
});
