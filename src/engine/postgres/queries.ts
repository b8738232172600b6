// Implements `Queries` on one connection.
import type { Queries, SqlStatement } from '../database.ts';
import type { PostgresConnection } from './connection.ts';
import { sql } from '../database.ts';
import { forCaller } from './errors.ts';
import type { UnawaitedStatements } from './unawaited.ts';

interface QueriesOptions {
  /** Called with each error, even if the caller catches it. */
  failed?(error: unknown): void;
  /** The statements that are not waited for: all of `write`. If it is undefined, they are waited for. */
  unawaited?: UnawaitedStatements;
}

/** Returns queries on a connection. */
export function createQueries(connection: PostgresConnection, { failed, unawaited }: QueriesOptions = {}): Queries {
  const ask = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await work();
    } catch (reported) {
      const error = unawaited?.causeOf(reported) ?? reported;
      failed?.(error);
      throw forCaller(error);
    }
  };
  const query = (statement: SqlStatement) => ask(() => connection.query<Record<string, unknown>>(statement));
  return {
    get: async <Row>(statement: SqlStatement) => (await query(statement)).rows[0] as Row | undefined,
    all: async <Row>(statement: SqlStatement) => (await query(statement)).rows as Row[],
    run: async (statement) => (await query(statement)).rowCount ?? 0,
    async write(statement) {
      if (unawaited === undefined) {
        await query(statement);
        return;
      }
      await ask(() => unawaited.add(connection.query(statement)));
    },
    script: (text) => ask(() => connection.script(text)),
    // The server verifies the checksums of its own pages.
    isDamaged: () => Promise.resolve(false),
    hasTable: async (name) => (await query(selectTable(name))).rows.length > 0,
  };
}

/** Reads the time of the server in milliseconds since 1970. */
export const serverClock = (): SqlStatement =>
  sql`SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS at`;

/** Quotes a name for use in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Finds a table of the store by its name, including tables that the role may not read. */
export const selectTable = (name: string): SqlStatement =>
  sql`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ${name}`;
