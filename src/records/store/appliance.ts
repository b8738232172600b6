// Single values of the appliance, by name.
import { sql, type Queries } from '#engine/database.ts';

export const appliance = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: async (name: string) =>
    (await db.get<{ value: string }>(sql`SELECT value FROM appliance WHERE name = ${name}`))?.value,
});

export const applianceChanges = (db: Queries) => ({
  ...appliance(db),
  set: (name: string, value: string) =>
    db.run(sql`
      INSERT INTO appliance (name, value) VALUES (${name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`),
});
