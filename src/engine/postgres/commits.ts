// The marks of commits: one row for each process that writes, raised in every transaction. By them a process whose connection
// broke in a commit finds out whether it was done, also on a server that has taken over; and whoever reads sees that something
// was committed, by whomever. PostgreSQL's own numbers of transactions would do for the first alone, and on one server alone.
import { sql } from '../database.ts';

/** Makes what is needed where it is not there, which not everybody may; forgets processes that have long ended. */
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

/** Raises the mark of a writer, in the same message as the commit. Neither is anybody's text: both are numbers of ours. */
export const marking = (writer: string, mark: number): string => {
  if (!/^[0-9a-f]{32}$/.test(writer)) throw new Error('a writer is called by 32 hexadecimal digits');
  return `
    INSERT INTO larder_commits (writer, mark, number, at)
      VALUES ('${writer}', ${String(mark)}, (SELECT coalesce(max(number), 0) + 1 FROM larder_commits), now())
      ON CONFLICT (writer) DO UPDATE SET mark = excluded.mark, number = excluded.number, at = excluded.at`;
};

/** The mark of the last commit of a writer. */
export const markOf = (writer: string) => sql`SELECT mark FROM larder_commits WHERE writer = ${writer}`;

/** The number of the last commit of all. */
export const lastCommit = () => sql`SELECT coalesce(max(number), 0) AS number FROM larder_commits`;
