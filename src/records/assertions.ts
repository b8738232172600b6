// Assertions: what was imported and believed, and what this store signed, as texts that nothing here looks into.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface KeptAssertion {
  /** The type and the primary key, such as `account/acme`. */
  name: string;
  type: string;
  /** Whose it is, where it is an account-key. */
  accountId: string | null;
  /** Of which snap, where it is a snap-declaration. */
  snapName: string | null;
  revision: number;
  origin: 'imported' | 'signed';
  text: string;
  keptAt: string;
  /** An account id, or `cli:<user>`. */
  keptBy: string;
}

const assertionColumns = columns`
  name, type, account_id AS "accountId", snap_name AS "snapName", revision, origin, text, kept_at AS "keptAt",
  kept_by AS "keptBy"`;

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

  /** The snap-declarations of a snap name; a name may have had several owners. */
  ofSnap: (snapName: string) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE snap_name = ${snapName} ORDER BY name`),

  /** The account-keys of these accounts. */
  keysOf: (accountIds: readonly string[]) =>
    db.all<KeptAssertion>(sql`
      SELECT ${assertionColumns}
      FROM assertions WHERE account_id IN ${list(accountIds)} AND type = 'account-key'`),
});

export const assertionChanges = (db: Queries) => ({
  ...assertions(db),

  /** Keeps an assertion; false when one of its name is here in the same revision or a newer one. */
  keep: async (a: KeptAssertion) =>
    0 <
    (await db.run(sql`
      INSERT INTO assertions (name, type, account_id, snap_name, revision, origin, text, kept_at, kept_by)
      VALUES (${a.name}, ${a.type}, ${a.accountId}, ${a.snapName}, ${a.revision}, ${a.origin}, ${a.text}, ${a.keptAt}, ${a.keptBy})
      ON CONFLICT (name) DO UPDATE
      SET account_id = excluded.account_id, snap_name = excluded.snap_name, revision = excluded.revision, origin = excluded.origin,
        text = excluded.text, kept_at = excluded.kept_at, kept_by = excluded.kept_by
      WHERE excluded.revision > assertions.revision`)),
});
