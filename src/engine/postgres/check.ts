// Checks a PostgreSQL database: reads every row, including large values stored apart from it, and follows every reference. If the server
// keeps checksums of its pages, it verifies each page on the way.
import type { PostgresConnection } from './connection.ts';
import { requireStoreDatabase } from './require-store.ts';
import type { DatabaseVerdict } from '../sqlite/check.ts';
import type { SqlStatement } from '../database.ts';
import { codeOf } from './errors.ts';
import { createQueries, quoted } from './queries.ts';
import { createConnector, type PasswordSource } from './connector.ts';

/** Returns the problems of a database. `password` supplies the password if the address has none. */
export async function inspectPostgres(text: string, password?: PasswordSource): Promise<DatabaseVerdict> {
  const { address, open } = createConnector(text, { password });
  const connection = await open('reads all');
  try {
    await requireStoreDatabase(createQueries(connection), address, true);
    return { pages: await unreadable(connection), rows: await dangling(connection) };
  } finally {
    await connection.close();
  }
}

/** A statement that runs once. */
const toStatement = (text: string): SqlStatement => ({ text: [text], values: [] });

/** Returns the tables that cannot be read to their end. */
async function unreadable(connection: PostgresConnection): Promise<string[]> {
  const tables = await connection.query<{ name: string }>(
    toStatement(`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname`),
  );
  const problems: string[] = [];
  for (const { name } of tables.rows) {
    try {
      // The cast to text makes the server read the whole row, including large values that it stores apart (TOAST).
      await connection.query(toStatement(`SELECT count(length(one::text)) FROM ${quoted(name)} AS one`));
    } catch (error) {
      // Corrupt data or a corrupt index (XX001, XX002), or an I/O error of the disk (58030).
      if (!/^(?:XX00[12]|58030)$/.test(codeOf(error))) throw error;
      problems.push(`the table ${name} cannot be read: ${(error as Error).message}`);
    }
  }
  return problems;
}

interface Reference {
  table: string;
  parent: string;
  columns: string[];
  parentColumns: string[];
}

/** Finds references to missing rows. The server prevents them, but a superuser can switch the checks off. */
async function dangling(connection: PostgresConnection): Promise<string[]> {
  const selectColumnNames = (key: string, table: string): string => `
    (SELECT json_agg(attname ORDER BY place) FROM unnest(${key}) WITH ORDINALITY AS one (number, place)
      JOIN pg_attribute ON attrelid = ${table} AND attnum = number)`;
  const references = await connection.query<Reference & Record<string, unknown>>(
    toStatement(`
      SELECT child.relname AS "table", parent.relname AS parent, ${selectColumnNames('conkey', 'conrelid')} AS columns,
        ${selectColumnNames('confkey', 'confrelid')} AS "parentColumns"
      FROM pg_constraint JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
      WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY child.relname, conname`),
  );
  const problems: string[] = [];
  for (const { table, parent, columns, parentColumns } of references.rows) {
    const isThere = columns.map((column) => `child.${quoted(column)} IS NOT NULL`);
    const fits = columns.map((column, at) => `parent.${quoted(parentColumns[at]!)} = child.${quoted(column)}`);
    const { rows } = await connection.query<{ count: number }>(
      toStatement(`
        SELECT count(*) AS count FROM ${quoted(table)} AS child
        WHERE ${isThere.join(' AND ')}
          AND NOT EXISTS (SELECT 1 FROM ${quoted(parent)} AS parent WHERE ${fits.join(' AND ')})`),
    );
    const { count } = rows[0]!;
    if (count > 0)
      problems.push(`${String(count)} ${count === 1 ? 'row' : 'rows'} of ${table} refer to nothing in ${parent}`);
  }
  return problems;
}
