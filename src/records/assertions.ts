// Assertions: what was imported and believed, and what this store signed, as texts that nothing here looks into.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface KeptAssertion {
  /** The type and the primary key, such as `account/acme`. */
  name: string;
  type: string;
  /** Whose it is, where it is an account-key or a validation set. */
  accountId: string | null;
  /** Of which snap, where it is a snap-declaration. */
  snapName: string | null;
  /** Which name and which sequence it has, where it is a validation set. */
  setName: string | null;
  sequence: number | null;
  /** Of which snap, by its id, and of which of its revisions, where it is a snap-revision. */
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
    db.get<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE name = ${name}`),

  /** Those of these names that are kept, in the order of the names. */
  async listOf(names: readonly string[]): Promise<KeptAssertion[]> {
    const rows = await db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns} FROM assertions WHERE name IN ${list(names)}`);
    const kept = new Map(rows.map((assertion) => [assertion.name, assertion]));
    return names.flatMap((name) => kept.get(name) ?? []);
  },

  /**
   * So many whose name begins so, which ends in a slash, after one of them, or from the first on; in the order of the names. Of two lower bounds
   * SQLite would take one to begin with, and read all names up to the other.
   */
  under: (beginning: string, after: string, limit: number) =>
    db.all<Pick<KeptAssertion, 'name' | 'text'>>(sql`
      SELECT name, text FROM assertions
      WHERE name > ${after === '' ? beginning : after} AND name < ${`${beginning.slice(0, -1)}0`} ORDER BY name LIMIT ${limit}`),

  /** The snap-declarations of a snap name; a name may have had several owners. */
  ofSnap: (snapName: string) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE snap_name = ${snapName} ORDER BY name`),

  /** The highest number that a snap-revision speaks of for a snap, by its id; 0 where there is none. */
  highestRevision: async (snapId: string) =>
    (
      await db.get<{ revision: number | null }>(sql`
        SELECT MAX(snap_revision) AS revision FROM assertions WHERE snap_id = ${snapId}`)
    )?.revision ?? 0,

  /** The account-keys of these accounts, in the order in which they were kept. */
  keysOf: (accountIds: readonly string[]) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE account_id IN ${list(accountIds)} AND type = 'account-key'
      ORDER BY kept_at, name`),

  /** An account's validation sets, of each its newest sequence, in the order of their names; the first thousand. */
  newestSetsOf: (accountId: string) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions AS kept
      WHERE account_id = ${accountId} AND set_name IS NOT NULL AND sequence = (
        SELECT MAX(sequence) FROM assertions WHERE account_id = kept.account_id AND set_name = kept.set_name
      )
      ORDER BY set_name LIMIT 1000`),

  /** The newest sequence of one of an account's validation sets. */
  newestOfSet: (accountId: string, setName: string) =>
    db.get<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE account_id = ${accountId} AND set_name = ${setName}
      ORDER BY sequence DESC LIMIT 1`),

  /** The validation sets that speak of a snap, by its id; the first hundred in the order of accounts, names and sequences. */
  setsNaming: (snapId: string) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE set_name IS NOT NULL AND text LIKE ${`%${snapId}%`}
      ORDER BY account_id, set_name, sequence LIMIT 100`),

  /** All sequences of an account's validation sets, or of the one of this name, the newest first; a thousand at most. */
  setsOf: (accountId: string, setName?: string) =>
    setName === undefined
      ? db.all<KeptAssertion>(sql`
          SELECT ${assertionColumns}
          FROM assertions WHERE account_id = ${accountId} AND set_name IS NOT NULL
          ORDER BY set_name, sequence DESC LIMIT 1000`)
      : db.all<KeptAssertion>(sql`
          SELECT ${assertionColumns}
          FROM assertions WHERE account_id = ${accountId} AND set_name = ${setName}
          ORDER BY sequence DESC LIMIT 1000`),
});

export const assertionChanges = (db: Queries) => ({
  ...assertions(db),

  /** Keeps an assertion; false when one of its name is here in the same revision or a newer one. */
  keep: async (a: KeptAssertion) =>
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
