// Reads through the connection that writes, between its transactions. Its cache stays warm, while each commit makes the reader read all its
// pages again: 3 to 4 % of the processor time of a change by one client (`npm run bench -- writes`).
import type SQLite from 'better-sqlite3';

import type { Queries, SqlStatement, SqlValue } from '../database.ts';

type Statement = SQLite.Statement<SqlValue[]>;

interface WriterQueries {
  writer: Pick<SQLite.Database, 'inTransaction'>;
  prepare: (query: SqlStatement) => Statement;
  valuesOf: (query: SqlStatement) => SqlValue[];
}

/**
 * Reads through the writer when no transaction is open on it, because it sees its own uncommitted rows; otherwise through the reader. Repeats a
 * read that fails through the reader, which waits for the locks of other processes and knows what the failure means. Only the reader gets
 * statements that write: it refuses them.
 */
export function readThroughWriter(
  { writer, prepare, valuesOf }: WriterQueries,
  reading: Pick<Queries, 'get' | 'all'>,
): Pick<Queries, 'get' | 'all'> {
  const read = async <Result>(
    query: SqlStatement,
    run: (statement: Statement, values: SqlValue[]) => unknown,
    otherwise: () => Promise<Result>,
  ): Promise<Result> => {
    if (writer.inTransaction) return otherwise();
    try {
      const statement = prepare(query);
      if (statement.readonly) return run(statement, valuesOf(query)) as Result;
    } catch {
      // The reader reports the failure.
    }
    return otherwise();
  };
  return {
    get: <Row>(query: SqlStatement) =>
      read<Row | undefined>(
        query,
        (statement, values) => statement.get(...values),
        () => reading.get<Row>(query),
      ),
    all: <Row>(query: SqlStatement) =>
      read<Row[]>(
        query,
        (statement, values) => statement.all(...values),
        () => reading.all<Row>(query),
      ),
  };
}
