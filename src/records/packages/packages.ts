// Packages: names within a namespace, each with a publisher.
import type { PackageNamespace, PackageType } from '#domain/packages/namespace.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

export type Links = Partial<Record<'contact' | 'docs' | 'donations' | 'issues' | 'source' | 'website', string[]>>;

/** Metadata that follows the uploads until it is edited in the store. */
export type EditableField = 'title' | 'summary' | 'description' | 'license' | 'links' | 'icon';

export interface Package {
  id: string;
  namespace: PackageNamespace;
  name: string;
  type: PackageType;
  publisherId: string;
  private: boolean;
  status: 'registered' | 'published';
  title: string | null;
  summary: string | null;
  description: string | null;
  license: string | null;
  defaultTrack: string | null;
  links: Links;
  /** The digest and file ending of the icon, `<sha3-384>.png`, `.jpg` or `.svg`. */
  icon: string | null;
  /** Metadata that was edited in the store, and so does not follow the uploads. */
  edited: EditableField[];
  createdAt: string;
}

/** A package with its publisher, as in lists. */
export interface PublishedPackage extends Package {
  publisher: { id: string; username: string; displayName: string; email: string; validation: string };
}

type PackagePublisher = PublishedPackage['publisher'];

/** Most packages have no links and no edits; empty values are null, so they are neither transferred nor parsed. */
type PackageRow = Omit<Package, 'namespace' | 'publisherId' | 'private' | 'links' | 'edited'> & {
  private: 0 | 1;
  links: string | null;
  edited: string | null;
};

type RowWithPublisher = PackageRow & Pick<Package, 'namespace' | 'publisherId'> & Omit<PackagePublisher, 'id'>;

/**
 * Written member by member: a list has up to a thousand packages, and copying with a rest pattern costs ten times as much, 0.2 µs each
 * (`npm run bench -- tricks`).
 */
const asPackage = (row: PackageRow, namespace: PackageNamespace, publisher: PackagePublisher): PublishedPackage => ({
  id: row.id,
  namespace,
  name: row.name,
  type: row.type,
  publisherId: publisher.id,
  private: row.private === 1,
  status: row.status,
  title: row.title,
  summary: row.summary,
  description: row.description,
  license: row.license,
  defaultTrack: row.defaultTrack,
  links: row.links === null ? {} : (JSON.parse(row.links) as Links),
  icon: row.icon,
  edited: row.edited === null ? [] : (JSON.parse(row.edited) as EditableField[]),
  createdAt: row.createdAt,
  publisher,
});

const withPublisher = (row: RowWithPublisher): PublishedPackage => {
  const { publisherId: id, username, displayName, email, validation } = row;
  return asPackage(row, row.namespace, { id, username, displayName, email, validation });
};

/** A package found by its name, with the account's part in it. */
export interface NamedPackage {
  namespace: PackageNamespace;
  id: string;
  name: string;
  type: PackageType;
  publishes: 0 | 1;
  collaborates: 0 | 1;
}

/** The members that a list of many names needs. */
export interface Name {
  id: string;
  name: string;
  type: PackageType;
  private: 0 | 1;
  createdAt: string;
}

/** An account's part in a snap. */
export interface SnapPart {
  id: string;
  name: string;
  type: PackageType;
  private: 0 | 1;
  publishes: 0 | 1;
  collaborates: 0 | 1;
  /** Whether the account is a brand and the snap is granted to all of its devices. */
  granted: 0 | 1;
}

const packageColumns = columns`
  package.id, name, type, private, status, title, summary, description, license, default_track AS "defaultTrack",
  NULLIF(links, '{}') AS links, icon, NULLIF(edited, '[]') AS edited, package.created_at AS "createdAt"`;

const publisherColumns = columns`username, display_name AS "displayName", email, validation`;

const withPublisherColumns = columns`
  namespace, publisher_id AS "publisherId", username, display_name AS "displayName", email, validation`;

export const packages = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the names of all packages in order, including private ones; only for the host itself. */
  names: (limit: number) =>
    db.all<{ namespace: string; name: string }>(sql`
      SELECT namespace, name FROM packages ORDER BY namespace, name LIMIT ${limit}`),

  /** Whether a name is registered now. */
  isRegistered: async (namespace: string, name: string): Promise<boolean> =>
    (await db.get(sql`SELECT 1 AS found FROM packages WHERE namespace = ${namespace} AND name = ${name}`)) !==
    undefined,

  async find(namespace: string, name: string): Promise<PublishedPackage | undefined> {
    const row = await db.get<RowWithPublisher>(sql`
      SELECT ${packageColumns},
        ${withPublisherColumns}
      FROM packages AS package JOIN accounts ON accounts.id = publisher_id
      WHERE namespace = ${namespace} AND name = ${name}`);
    return row && withPublisher(row);
  },

  async byId(id: string): Promise<PublishedPackage | undefined> {
    const row = await db.get<RowWithPublisher>(sql`
      SELECT ${packageColumns},
        ${withPublisherColumns}
      FROM packages AS package JOIN accounts ON accounts.id = publisher_id
      WHERE package.id = ${id}`);
    return row && withPublisher(row);
  },

  /** Lists all packages by namespace and name, beginning after the given name. */
  async after(namespace: string, name: string, limit: number): Promise<PublishedPackage[]> {
    const rows = await db.all<RowWithPublisher>(sql`
      SELECT ${packageColumns},
        ${withPublisherColumns}
      FROM packages AS package JOIN accounts ON accounts.id = publisher_id
      WHERE (namespace, name) > (${namespace}, ${name})
      ORDER BY namespace, name LIMIT ${limit}`);
    return rows.map(withPublisher);
  },

  /** Returns whether the store has no package. */
  isEmpty: async (): Promise<boolean> =>
    (await db.get<{ id: string }>(sql`SELECT id FROM packages LIMIT 1`)) === undefined,

  /** Lists the packages that an account publishes in a namespace, by name. */
  async publishedBy(accountId: string, namespace: PackageNamespace): Promise<PublishedPackage[]> {
    const publisher = await db.get<PackagePublisher>(sql`
      SELECT id, ${publisherColumns} FROM accounts WHERE id = ${accountId}`);
    if (publisher === undefined) return [];
    const rows = await db.all<PackageRow>(sql`
      SELECT ${packageColumns}
      FROM packages AS package WHERE publisher_id = ${accountId} AND namespace = ${namespace}
      ORDER BY name`);
    return rows.map((row) => asPackage(row, namespace, publisher));
  },

  /**
   * Lists the packages that an account collaborates on in a namespace. It starts from the account's few rows and sorts them, which is
   * faster than reading all names in order.
   */
  async sharedWith(accountId: string, namespace: PackageNamespace): Promise<PublishedPackage[]> {
    const rows = await db.all<RowWithPublisher>(sql`
      SELECT ${packageColumns},
        ${withPublisherColumns}
      FROM collaborators
      CROSS JOIN packages AS package
      JOIN accounts ON accounts.id = publisher_id
      WHERE package.id = collaborators.package_id AND collaborators.account_id = ${accountId} AND namespace = ${namespace}
      ORDER BY name`);
    return rows.map(withPublisher);
  },

  /**
   * Lists the names that an account publishes or collaborates on in a namespace. For a thousand packages it takes half the time of full
   * rows.
   */
  async namesOf(accountId: string, namespace: PackageNamespace): Promise<Name[]> {
    const own = await db.all<Name>(sql`
      SELECT id, name, type, private, created_at AS "createdAt"
      FROM packages WHERE publisher_id = ${accountId} AND namespace = ${namespace} ORDER BY name`);
    const shared = await db.all<Name>(sql`
      SELECT id, name, type, private, packages.created_at AS "createdAt"
      FROM collaborators CROSS JOIN packages
      WHERE id = package_id AND account_id = ${accountId} AND namespace = ${namespace} ORDER BY name`);
    return [...own, ...shared];
  },

  /** Finds a snap by its id, with the account's part in it. */
  snapFor: (id: string, accountId: string) =>
    db.get<SnapPart>(sql`
      SELECT id, name, type, private,
        CASE WHEN publisher_id = ${accountId} THEN 1 ELSE 0 END AS publishes,
        CASE WHEN EXISTS (
          SELECT 1 FROM collaborators WHERE package_id = packages.id AND account_id = ${accountId}
        ) THEN 1 ELSE 0 END AS collaborates,
        CASE WHEN EXISTS (
          SELECT 1 FROM device_grants WHERE package_id = packages.id AND brand_id = ${accountId} AND model = ''
        ) THEN 1 ELSE 0 END AS granted
      FROM packages WHERE id = ${id} AND namespace = 'snap'`),

  /** Returns the private packages among these. */
  async privateAmong(ids: readonly string[]): Promise<Pick<Package, 'id' | 'private' | 'publisherId'>[]> {
    const rows = await db.all<{ id: string; publisherId: string }>(sql`
      SELECT id, publisher_id AS "publisherId" FROM packages WHERE id IN ${list(ids)} AND private = 1`);
    return rows.map((row) => ({ ...row, private: true }));
  },

  /** Returns the existing packages with these names, in the order of the names, with the account's part in each. */
  async findByNames(
    names: { namespace: PackageNamespace; name: string }[],
    accountId: string,
  ): Promise<NamedPackage[]> {
    const packagesByName = new Map<string, NamedPackage>();
    for (const [namespace, group] of Map.groupBy(names, (entry) => entry.namespace)) {
      const rows = await db.all<NamedPackage>(sql`
        SELECT package.namespace, package.id, package.name, package.type,
          CASE WHEN publisher_id = ${accountId} THEN 1 ELSE 0 END AS publishes,
          CASE WHEN collaborator.account_id IS NULL THEN 0 ELSE 1 END AS collaborates
        FROM packages AS package
        LEFT JOIN collaborators AS collaborator
          ON collaborator.package_id = package.id AND collaborator.account_id = ${accountId}
        WHERE package.namespace = ${namespace} AND package.name IN ${list(group.map(({ name }) => name))}`);
      for (const row of rows) packagesByName.set(`${namespace}/${row.name}`, row);
    }
    return names.flatMap(({ namespace, name }) => packagesByName.get(`${namespace}/${name}`) ?? []);
  },

  /** Returns the digest and file ending of a package's icon; null if it has none or does not exist. */
  iconOf: async (id: string) =>
    (await db.get<{ icon: string | null }>(sql`SELECT icon FROM packages WHERE id = ${id}`))?.icon ?? null,

  /** Returns whether a person reviews a package's uploads. */
  isReviewedByHand: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM packages WHERE id = ${id} AND manual_review = 1`)),
});

export const packageChanges = (db: Queries) => ({
  ...packages(db),

  /** Registers a package. Returns false if the name or the id is taken. */
  claim: async (p: Package) =>
    0 <
    (await db.run(sql`
      INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
      VALUES (${p.id}, ${p.namespace}, ${p.name}, ${p.type}, ${p.publisherId}, ${Number(p.private)}, ${p.status},
        ${JSON.stringify(p.links)}, ${p.createdAt})
      ON CONFLICT DO NOTHING`)),

  /** Updates the metadata and settings of a package; other columns stay. */
  describe: (p: Package) =>
    db.run(sql`
      UPDATE packages
      SET private = ${Number(p.private)}, title = ${p.title}, summary = ${p.summary}, description = ${p.description},
        license = ${p.license},
        default_track = ${p.defaultTrack}, links = ${JSON.stringify(p.links)}, icon = ${p.icon},
        edited = ${JSON.stringify(p.edited)}
      WHERE id = ${p.id}`),

  publish: (id: string) =>
    db.write(sql`UPDATE packages SET status = 'published' WHERE id = ${id} AND status = 'registered'`),

  /** Gives a package another id, in all records. Returns false if another package has that id. */
  async setId(id: string, newId: string): Promise<boolean> {
    if ((await db.get(sql`SELECT 1 FROM packages WHERE id = ${newId}`)) !== undefined) return false;
    await db.run(sql`UPDATE packages SET id = ${newId} WHERE id = ${id}`);
    return true;
  },
  setPublisher: (id: string, accountId: string) =>
    db.run(sql`UPDATE packages SET publisher_id = ${accountId} WHERE id = ${id}`),

  reviewByHand: (id: string, on: boolean) =>
    db.run(sql`UPDATE packages SET manual_review = ${Number(on)} WHERE id = ${id}`),

  remove: (id: string) => db.run(sql`DELETE FROM packages WHERE id = ${id}`),
});
