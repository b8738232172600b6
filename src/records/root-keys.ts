// Root keys: what tokens are signed with, sealed under the site key.
import { sql, type Queries } from './database.ts';

export interface RootKey {
  id: string;
  sealed: string;
  createdAt: string;
}

export const rootKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) =>
    db.get<RootKey>(sql`SELECT id, sealed, created_at AS "createdAt" FROM root_keys WHERE id = ${id}`),

  newest: () =>
    db.get<RootKey>(sql`SELECT id, sealed, created_at AS "createdAt" FROM root_keys ORDER BY created_at DESC, id LIMIT 1`),
});

export const rootKeyChanges = (db: Queries) => ({
  ...rootKeys(db),
  add: (key: RootKey) =>
    db.run(sql`INSERT INTO root_keys (id, sealed, created_at) VALUES (${key.id}, ${key.sealed}, ${key.createdAt})`),
});
