// The verbs of the door, on one connection.
import type { Queries, Statement } from '../database.ts';
import type { Connection } from './connection.ts';
import { sql } from '../database.ts';
import { forCaller } from './errors.ts';

/** Queries on a connection; `failed` is told what went wrong with one, whatever becomes of it. */
export function queriesOn(connection: Connection, failed: (error: unknown) => void): Queries {
  const ask = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await work();
    } catch (error) {
      failed(error);
      throw forCaller(error);
    }
  };
  const query = (statement: Statement) => ask(() => connection.query<Record<string, unknown>>(statement));
  return {
    get: async <Row>(statement: Statement) => (await query(statement)).rows[0] as Row | undefined,
    all: async <Row>(statement: Statement) => (await query(statement)).rows as Row[],
    run: async (statement) => (await query(statement)).rowCount ?? 0,
    script: (text) => ask(() => connection.script(text)),
    // The server has checksums of its pages, which it looks at itself.
    isDamaged: () => Promise.resolve(false),
    hasTable: async (name) => (await query(tableNamed(name))).rows.length > 0,
  };
}

/** Asks what time it is, in milliseconds since 1970. */
export const serverClock = (): Statement =>
  sql`SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS at`;

/** A name where a statement has one. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Finds a table of the store by its name, also one that its user may not read. */
export const tableNamed = (name: string): Statement =>
  sql`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ${name}`;
