// Makes queries fail after their transaction has ended. Without this they would write on their own, or into another transaction.
import type { Queries } from './database.ts';

export function guardQueries(within: Queries, isOpen: () => boolean): Queries {
  const ended = () => Promise.reject(new Error('cannot use a transaction that has ended'));
  return {
    get: (statement) => (isOpen() ? within.get(statement) : ended()),
    all: (statement) => (isOpen() ? within.all(statement) : ended()),
    run: (statement) => (isOpen() ? within.run(statement) : ended()),
    write: (statement) => (isOpen() ? within.write(statement) : ended()),
    script: (text) => (isOpen() ? within.script(text) : ended()),
    isDamaged: (table, key) => (isOpen() ? within.isDamaged(table, key) : ended()),
    hasTable: (name) => (isOpen() ? within.hasTable(name) : ended()),
  };
}
