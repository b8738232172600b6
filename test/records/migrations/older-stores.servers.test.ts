// A store of an earlier release on a PostgreSQL server becomes the same as a new store. The first ones there were of a1407c7.
import t from 'tap';

import { migrations, newStore } from '#data/upgrade.ts';
import { migrate } from '#engine/migrate.ts';
import { rowsOfServer } from '#test/fixtures/records/all-rows.ts';
import { makeStore, openPostgres } from '#test/fixtures/records/engines.ts';
import { comparableRows, lastCompared, olderPostgresStore, upgradedRows } from '#test/fixtures/records/older-stores.ts';
import { sharedPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';

const nameOf = (address: string): string => /\/(\w+)\?/.exec(address)![1]!;

/** Columns in their order, constraints, indexes, views, triggers and functions of a database. */
const schema = [
  `SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default FROM information_schema.columns
   WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
  `SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS text FROM pg_constraint
   WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
  `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
  `SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1`,
  `SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
  `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
  `SELECT name FROM migrations ORDER BY name`,
];

async function schemaOf(server: PostgresServer, address: string): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const query of schema) results.push((await server.ask(query, nameOf(address))).rows);
  return results;
}

async function upgrade(address: string, to = migrations('postgres')): Promise<string[]> {
  const db = await openPostgres(address);
  return migrate(db, to, newStore('postgres')).finally(() => db.close());
}

t.test('a store of a1407c7 gets the tables of a new store, and the rows that single migrations left', async (t) => {
  const server = await sharedPostgres(t);
  const address = await server.newDatabase();
  await server.ask(olderPostgresStore(), nameOf(address));
  const compared = migrations('postgres').filter(({ name }) => name <= lastCompared);
  t.same(await upgrade(address, compared), ['0095-since-first-release', lastCompared]);
  t.strictSame(comparableRows(await rowsOfServer(address)), upgradedRows('a1407c7'));
  await upgrade(address);
  t.strictSame(await schemaOf(server, address), await schemaOf(server, await server.newDatabase(makeStore)));
  t.same(await upgrade(address), [], 'and it is remembered');
});

t.test('a store of an unreleased state is refused on a server too', async (t) => {
  const server = await sharedPostgres(t);
  const address = await server.newDatabase();
  await server.ask(olderPostgresStore(), nameOf(address));
  await server.ask(`INSERT INTO migrations VALUES ('0088-links-from-init')`, nameOf(address));
  const before = await schemaOf(server, address);
  await t.rejects(upgrade(address), {
    message: /unreleased state .*holds 0088-links-from-init, but not 0089-.*commit/,
  });
  t.strictSame(await schemaOf(server, address), before);
});
