// Finds out whether a database holds a store, something else, or nothing.
import { sql, type Queries } from '../database.ts';
import { describeAddress, type PostgresAddress } from '#contract/postgres-address.ts';
import { ConnectionFailure } from './errors.ts';
import { selectTable } from './queries.ts';

/** Throws if the database has tables of another application, or if it must hold a store and does not. */
export async function requireStoreDatabase(
  { get }: Pick<Queries, 'get'>,
  address: PostgresAddress,
  mustHoldStore: boolean,
): Promise<void> {
  const foreign = await get<{ name: string }>(sql`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = current_schema()
      AND NOT EXISTS (
        SELECT 1 FROM pg_tables
        WHERE schemaname = current_schema() AND tablename IN ('migrations', 'larder_commits'))
    ORDER BY tablename LIMIT 1`);
  if (foreign !== undefined) {
    throw new ConnectionFailure(
      `cannot use ${describeAddress(address)}: it contains tables that are not larder's, such as ${foreign.name}; name the database, or the ` +
        'schema, of the store, or an empty one for a new store',
    );
  }
  // A database that was named by mistake would become a new, empty store.
  if (mustHoldStore && (await get(selectTable('migrations'))) === undefined) {
    throw new ConnectionFailure(
      `cannot open ${describeAddress(address)}: it contains no store; name the database with the records, or create a new store ` +
        "with 'larder init --postgres'",
    );
  }
}
