// The marks of commits: one row for each writing process, raised in every transaction. If a process loses its connection during a commit,
// its mark shows whether the commit was done, also after a failover to another server. The marks also show readers that some process has
// committed. PostgreSQL's own transaction numbers show only the former, and only on the same server.
import { sql } from '../database.ts';

/**
 * Creates the table if it does not exist, since not every role may create tables, and deletes the marks of processes without a commit for 7
 * days.
 */
export const marks = `
  DO $$ BEGIN
    IF to_regclass(format('%I.larder_commits', current_schema())) IS NULL THEN
      CREATE TABLE larder_commits (
        writer TEXT COLLATE "C" PRIMARY KEY,
        mark   BIGINT NOT NULL,
        number BIGINT NOT NULL,
        at     TIMESTAMPTZ NOT NULL
      );
    END IF;
  END $$;
  DELETE FROM larder_commits
    WHERE at < now() - interval '7 days' AND number < (SELECT max(number) FROM larder_commits)`;

/** Takes the lock for changes. There is one for each store: a database may have several stores, each in its own schema. */
export const lock = `SELECT pg_advisory_xact_lock(hashtextextended('larder ' || current_schema(), 0))`;

/**
 * Prepares `locking` and `marking` on a connection. If the server plans them for each transaction, a release by 32 clients costs
 * a twenty-fifth more of its time (`LARDER_ONLY='engines: release' npm run bench -- scale`).
 */
export const preparing = `
  PREPARE larder_lock AS ${lock};
  PREPARE larder_mark (TEXT, BIGINT) AS
    INSERT INTO larder_commits (writer, mark, number, at)
      VALUES ($1, $2, (SELECT coalesce(max(number), 0) + 1 FROM larder_commits), now())
      ON CONFLICT (writer) DO UPDATE SET mark = excluded.mark, number = excluded.number, at = excluded.at`;

export const locking = 'EXECUTE larder_lock';

/**
 * Raises the mark of a writer, in the same message as the commit. The values need no quoting: hexadecimal digits and a number of our own.
 */
export const marking = (writer: string, mark: number): string => {
  if (!/^[0-9a-f]{32}$/.test(writer)) throw new Error('a writer is called by 32 hexadecimal digits');
  return `EXECUTE larder_mark ('${writer}', ${String(mark)})`;
};

/** Finds the mark of the last commit of a writer. */
export const markOf = (writer: string) => sql`SELECT mark FROM larder_commits WHERE writer = ${writer}`;

/** Finds the number of the last commit of all writers. */
export const lastCommit = () => sql`SELECT coalesce(max(number), 0) AS number FROM larder_commits`;
