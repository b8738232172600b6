// Makes queries fail after their transaction has ended. Without this they would write on their own, or into another transaction.
import type { Queries, SqlStatement } from './database.ts';

interface GuardOptions {
  isOpen(): boolean;
  /** Called before each statement that may change rows. */
  changes(): void;
}

export function guardQueries(within: Queries, { isOpen, changes }: GuardOptions): Queries {
  const ended = () => Promise.reject(new Error('cannot use a transaction that has ended'));
  const changing = (): boolean => {
    changes();
    return isOpen();
  };
  const isOpenTo = (statement: SqlStatement): boolean => (isRead(statement) ? isOpen() : changing());
  return {
    get: (statement) => (isOpenTo(statement) ? within.get(statement) : ended()),
    all: (statement) => (isOpenTo(statement) ? within.all(statement) : ended()),
    run: (statement) => (changing() ? within.run(statement) : ended()),
    write: (statement) => (changing() ? within.write(statement) : ended()),
    script: (text) => (changing() ? within.script(text) : ended()),
    isDamaged: (table, key) => (isOpen() ? within.isDamaged(table, key) : ended()),
    hasTable: (name) => (isOpen() ? within.hasTable(name) : ended()),
  };
}

/** Whether a statement only reads. Any other may change rows, and return them. */
const isRead = ({ text: [beginning = ''] }: SqlStatement): boolean => /^\s*SELECT\b/.test(beginning);
