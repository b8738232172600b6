// Root keys, which sign tokens, sealed with the site key.
import { sql, type Queries } from '#engine/database.ts';

export interface SealedRootKey {
  id: string;
  sealed: string;
  createdAt: string;
}

export const rootKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) =>
    db.get<SealedRootKey>(sql`SELECT id, sealed, created_at AS "createdAt" FROM root_keys WHERE id = ${id}`),

  newest: () =>
    db.get<SealedRootKey>(
      sql`SELECT id, sealed, created_at AS "createdAt" FROM root_keys ORDER BY created_at DESC, id LIMIT 1`,
    ),

  /**
   * Lists keys that verify no token any longer: a newer key took over before `replacedBefore`, and every token that they signed is revoked
   * or has ended by `now`.
   */
  spent: async (replacedBefore: string, now: string) => {
    const rows = await db.all<{ id: string }>(sql`
      SELECT id FROM root_keys AS spent
      WHERE EXISTS (
          SELECT 1 FROM root_keys AS newer
          WHERE newer.created_at > spent.created_at AND newer.created_at < ${replacedBefore})
        AND NOT EXISTS (
          SELECT 1 FROM macaroons
          WHERE root_key_id = spent.id AND revoked_at IS NULL AND valid_until > ${now})
      ORDER BY created_at`);
    return rows.map(({ id }) => id);
  },
});

export const rootKeyChanges = (db: Queries) => ({
  ...rootKeys(db),
  add: (key: SealedRootKey) =>
    db.run(sql`INSERT INTO root_keys (id, sealed, created_at) VALUES (${key.id}, ${key.sealed}, ${key.createdAt})`),

  /** Deletes a key. All tokens that it signed become invalid. */
  remove: (id: string) => db.run(sql`DELETE FROM root_keys WHERE id = ${id}`),
});
