// Assertions that were imported and verified, or that this store signed, as texts. This module does not parse them.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface StoredAssertion {
  /** The type and the primary key, such as `account/acme`. */
  name: string;
  type: string;
  /** The account, for an account-key or a validation set. */
  accountId: string | null;
  /** The snap name, for a snap-declaration. */
  snapName: string | null;
  /** Name and sequence, for a validation set. */
  setName: string | null;
  sequence: number | null;
  /** Snap id and revision, for a snap-revision. */
  snapId: string | null;
  snapRevision: number | null;
  revision: number;
  origin: 'imported' | 'signed';
  text: string;
  keptAt: string;
  /** An account id, or `cli:<user>`. */
  keptBy: string;
}

const assertionColumns = columns`
  name, type, account_id AS "accountId", snap_name AS "snapName", set_name AS "setName", sequence, snap_id AS "snapId",
  snap_revision AS "snapRevision", revision, origin, text, kept_at AS "keptAt", kept_by AS "keptBy"`;

export const assertions = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (name: string) =>
    db.get<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE name = ${name}`),

  /** Returns the stored assertions with these names, in the order of the names. */
  async listOf(names: readonly string[]): Promise<StoredAssertion[]> {
    const rows = await db.all<StoredAssertion>(sql`
      SELECT ${assertionColumns} FROM assertions WHERE name IN ${list(names)}`);
    const byName = new Map(rows.map((assertion) => [assertion.name, assertion]));
    return names.flatMap((name) => byName.get(name) ?? []);
  },

  /**
   * Lists assertions with a name that starts with `beginning`, which ends in a slash, after the name `after`; all from the first on if it
   * is empty. With two lower bounds SQLite would use one and read all names up to the other.
   */
  under: (beginning: string, after: string, limit: number) =>
    db.all<Pick<StoredAssertion, 'name' | 'text'>>(sql`
      SELECT name, text FROM assertions
      WHERE name > ${after === '' ? beginning : after} AND name < ${`${beginning.slice(0, -1)}0`} ORDER BY name LIMIT ${limit}`),

  /** Lists the snap-declarations of a snap name. A name may have had several owners. */
  ofSnap: (snapName: string) =>
    db.all<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE snap_name = ${snapName} ORDER BY name`),

  /** Returns the highest revision in the snap-revisions of a snap, by its id; 0 if there is none. */
  highestRevision: async (snapId: string) =>
    (
      await db.get<{ revision: number | null }>(sql`
        SELECT MAX(snap_revision) AS revision FROM assertions WHERE snap_id = ${snapId}`)
    )?.revision ?? 0,

  /** Lists the account-keys of these accounts, in the order of their storage. */
  keysOf: (accountIds: readonly string[]) =>
    db.all<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE account_id IN ${list(accountIds)} AND type = 'account-key'
      ORDER BY kept_at, name`),

  /** Lists the newest sequence of each of an account's validation sets, by name, at most a thousand. */
  newestSetsOf: (accountId: string) =>
    db.all<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions AS kept
      WHERE account_id = ${accountId} AND set_name IS NOT NULL AND sequence = (
        SELECT MAX(sequence) FROM assertions WHERE account_id = kept.account_id AND set_name = kept.set_name
      )
      ORDER BY set_name LIMIT 1000`),

  /** Returns the newest sequence of an account's validation set. */
  newestOfSet: (accountId: string, setName: string) =>
    db.get<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE account_id = ${accountId} AND set_name = ${setName}
      ORDER BY sequence DESC LIMIT 1`),

  /** Lists the validation sets that name a snap, by its id: the first hundred by account, name and sequence. */
  setsNaming: (snapId: string) =>
    db.all<StoredAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE set_name IS NOT NULL AND text LIKE ${`%${snapId}%`}
      ORDER BY account_id, set_name, sequence LIMIT 100`),

  /** Lists all sequences of an account's validation sets, or of the set with this name, newest first, at most a thousand. */
  setsOf: (accountId: string, setName?: string) =>
    setName === undefined
      ? db.all<StoredAssertion>(sql`
          SELECT ${assertionColumns}
          FROM assertions WHERE account_id = ${accountId} AND set_name IS NOT NULL
          ORDER BY set_name, sequence DESC LIMIT 1000`)
      : db.all<StoredAssertion>(sql`
          SELECT ${assertionColumns}
          FROM assertions WHERE account_id = ${accountId} AND set_name = ${setName}
          ORDER BY sequence DESC LIMIT 1000`),
});

export const assertionChanges = (db: Queries) => ({
  ...assertions(db),

  /** Stores an assertion. Returns false if the same or a newer revision of it is stored already. */
  keep: async (a: StoredAssertion) =>
    0 <
    (await db.run(sql`
      INSERT INTO assertions (name, type, account_id, snap_name, set_name, sequence, snap_id, snap_revision, revision, origin, text,
        kept_at, kept_by)
      VALUES (${a.name}, ${a.type}, ${a.accountId}, ${a.snapName}, ${a.setName}, ${a.sequence}, ${a.snapId}, ${a.snapRevision},
        ${a.revision}, ${a.origin}, ${a.text}, ${a.keptAt}, ${a.keptBy})
      ON CONFLICT (name) DO UPDATE
      SET account_id = excluded.account_id, snap_name = excluded.snap_name, set_name = excluded.set_name,
        sequence = excluded.sequence, snap_id = excluded.snap_id, snap_revision = excluded.snap_revision, revision = excluded.revision, origin = excluded.origin,
        text = excluded.text, kept_at = excluded.kept_at, kept_by = excluded.kept_by
      WHERE excluded.revision > assertions.revision`)),
});
