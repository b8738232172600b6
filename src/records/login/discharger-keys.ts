// The identity provider's own key pairs, sealed with the site key.
import { sql, type Queries } from '#engine/database.ts';

export interface DischargerKey {
  publicKey: string;
  sealed: string;
  createdAt: string;
}

export const dischargerKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the keys, newest first. */
  list: () =>
    db.all<DischargerKey>(sql`
      SELECT public_key AS "publicKey", sealed, created_at AS "createdAt"
      FROM discharger_keys ORDER BY created_at DESC, public_key`),
});

export const dischargerKeyChanges = (db: Queries) => ({
  ...dischargerKeys(db),

  add: (key: DischargerKey) =>
    db.run(sql`
      INSERT INTO discharger_keys (public_key, sealed, created_at) VALUES (${key.publicKey}, ${key.sealed}, ${key.createdAt})`),

  remove: (publicKey: string) => db.run(sql`DELETE FROM discharger_keys WHERE public_key = ${publicKey}`),
});
