// Reads all rows of a PostgreSQL database from one snapshot while other processes write, or writes all of them in one transaction.
import {
  batch,
  DatabaseNotEmpty,
  sizeOf,
  type Cell,
  type RowSource,
  type RowTarget,
  type StoreTable,
} from '../rows.ts';
import type { Queries } from '../database.ts';
import { describeAddress } from '#contract/postgres-address.ts';
import { lock, marks } from './commits.ts';
import type { PostgresConnection } from './connection.ts';
import { forCaller } from './errors.ts';
import { createQueries, quoted } from './queries.ts';
import { createConnector, type PasswordSource, type PostgresConnectorOptions } from './connector.ts';

export interface PostgresSourceOptions {
  password?: PasswordSource;
  /** Whether to block writes of all other processes until the source is closed. */
  alone?: boolean;
}

/** Opens a source of the rows of one snapshot, valid until it is closed. */
export async function postgresSource(
  text: string,
  { password, alone = false }: PostgresSourceOptions = {},
): Promise<RowSource & { close(): Promise<void> }> {
  const connection = await createConnector(text, { password }).begin('reads all', async (begun) => {
    if (alone) await begun.script(lock.replace('_xact_', '_'));
    await begun.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return begun;
  });
  return { ...createRowSource(connection), close: () => connection.close() };
}

export interface PostgresTargetOptions {
  /** Makes the tables of a new store. */
  make: (tx: Queries) => Promise<void>;
  /**
   * The name of this attempt: letters, digits and `-`. Tables that an earlier attempt of the same name left are removed; other tables
   * never. `settleAttempt` removes the name from the tables.
   */
  attempt: string;
  password?: PasswordSource;
}

/** A transaction that makes the tables of a store and all of its rows, or nothing. */
export interface PostgresTarget extends RowTarget {
  commit(): Promise<void>;
  /** Closes the connection, which rolls back an uncommitted transaction. */
  close(): Promise<void>;
}

/** Begins the transaction. Throws DatabaseNotEmpty if tables already exist. */
export async function postgresTarget(
  text: string,
  { make, attempt, password }: PostgresTargetOptions,
): Promise<PostgresTarget> {
  const { address, begin } = createConnector(text, { password });
  const connection = await begin('loads', itself);
  try {
    await connection.script(`BEGIN; ${lock}`);
    await clear(connection, attempt, describeAddress(address));
    await connection.script(marks);
    await make(createQueries(connection));
    await connection.script(`COMMENT ON TABLE migrations IS '${nameOf(attempt)}'`);
    const reading = createRowSource(connection);
    const tables = sortByReferences(await reading.tables(), await references(connection));
    // Triggers stay off: the rows that they would make are among the copied rows.
    for (const { name } of tables) {
      await connection.script(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER; DELETE FROM ${quoted(name)}`);
    }
    return {
      ...reading,
      tables: async () => tables,
      write: writerOn(connection),
      async commit() {
        for (const { name } of tables) await connection.script(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
        // Analyze before the first query: without statistics the server scans whole tables.
        await connection.script('ANALYZE; COMMIT');
      },
      close: () => connection.close(),
    };
  } catch (error) {
    connection.destroy();
    throw error instanceof DatabaseNotEmpty ? error : forCaller(error);
  }
}

/** The first step for work that is not retried if the connection is lost. */
const itself = (connection: PostgresConnection): Promise<PostgresConnection> => Promise.resolve(connection);

/** Removes the name of the attempt from the tables, so that no attempt can remove them any longer. */
export async function settleAttempt(text: string, password?: PasswordSource): Promise<void> {
  const connection = await createConnector(text, { password }).begin('writes', itself);
  try {
    await connection.script('COMMENT ON TABLE migrations IS NULL');
  } finally {
    await connection.close();
  }
}

const nameOf = (attempt: string): string => {
  if (!/^[\w-]{1,64}$/.test(attempt)) throw new Error('an attempt is called by letters and digits');
  return `larder attempt ${attempt}`;
};

/** Throws DatabaseNotEmpty if the database has anything but the tables that the attempt left. */
export async function refuseUsed(
  text: string,
  { attempt, ...options }: Pick<PostgresTargetOptions, 'attempt'> & PostgresConnectorOptions,
): Promise<void> {
  const { address, begin } = createConnector(text, options);
  const connection = await begin('reads', itself);
  try {
    await hasRemains(connection, attempt, describeAddress(address));
  } finally {
    await connection.close();
  }
}

/** Removes the tables that the attempt left, and nothing else. */
export async function removeAttempt(
  text: string,
  { attempt, password }: Omit<PostgresTargetOptions, 'make'>,
): Promise<void> {
  const { address, begin } = createConnector(text, { password });
  const connection = await begin('loads', itself);
  try {
    await connection.script(`BEGIN; ${lock}`);
    await clear(connection, attempt, describeAddress(address));
    await connection.script('COMMIT');
  } finally {
    await connection.close();
  }
}

/**
 * Moves the tables of a store into a schema of their own. Nothing is removed; an address that names the schema opens them. Returns false if
 * there are no tables, or if the role may not create a schema.
 */
export async function moveToSchema(text: string, schema: string, password?: PasswordSource): Promise<boolean> {
  if (!/^\w{1,63}$/.test(schema)) throw new Error('the name of a schema has 1 to 63 letters, digits and underscores');
  const connection = await createConnector(text, { password }).begin('loads', itself);
  try {
    await connection.script(`BEGIN; ${lock}`);
    const [row] = await connection.rows(
      `SELECT (to_regclass('migrations') IS NOT NULL AND has_database_privilege(current_database(), 'CREATE'))::int`,
    );
    if (row![0] !== 1) return false;
    await connection.script(`CREATE SCHEMA ${schema};
      DO $$ DECLARE one RECORD; BEGIN
        FOR one IN SELECT relname, relkind FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') LOOP
          EXECUTE format('ALTER %s %I SET SCHEMA ${schema}', CASE one.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, one.relname);
        END LOOP;
        FOR one IN ${functions} LOOP
          EXECUTE format('ALTER FUNCTION %I() SET SCHEMA ${schema}', one.proname);
        END LOOP; END $$; COMMIT`);
    return true;
  } catch (error) {
    throw forCaller(error);
  } finally {
    await connection.close();
  }
}

/** Returns whether an earlier attempt left tables. Throws DatabaseNotEmpty if there is anything else. */
async function hasRemains(connection: PostgresConnection, attempt: string, place: string): Promise<boolean> {
  const rows = await connection.rows(
    `SELECT relname::text, coalesce(obj_description(oid, 'pg_class'), '') FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND relname <> 'larder_commits'
     ORDER BY relname`,
  );
  if (rows.length === 0) return false;
  const migrationsRow = rows.find(([name]) => name === 'migrations');
  if (migrationsRow?.[1] === nameOf(attempt)) return true;
  throw new DatabaseNotEmpty(
    migrationsRow === undefined
      ? `${place} is not empty: it contains tables that are not larder's, such as ${String(rows[0]![0])}`
      : `there is a store in ${place} already${migrationsRow[1] === '' ? '' : ', or the remains of an interrupted command'}`,
  );
}

/** Removes the tables that an earlier attempt left. Throws DatabaseNotEmpty if there is anything else. */
async function clear(connection: PostgresConnection, attempt: string, place: string): Promise<void> {
  if (!(await hasRemains(connection, attempt, place))) return;
  await connection.script(`DO $$ DECLARE one RECORD; BEGIN
    FOR one IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', one.relname);
    END LOOP;
    FOR one IN ${functions} LOOP
      EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', one.proname);
    END LOOP; END $$`);
}

/** The functions of a store's triggers; functions of extensions do not belong to it. */
const functions = `SELECT proname FROM pg_proc
  WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')`;

/** Returns pairs of tables: the first refers to the second. */
const references = async (connection: PostgresConnection): Promise<Cell[][]> =>
  connection.rows(
    `SELECT child.relname::text, parent.relname::text FROM pg_constraint
     JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid`,
  );

/** Sorts the tables so that each comes after the tables that it refers to. */
function sortByReferences(tables: readonly StoreTable[], refers: readonly Cell[][]): StoreTable[] {
  const ordered: StoreTable[] = [];
  const waiting = new Set(tables);
  while (waiting.size > 0) {
    const names = new Set([...waiting].map(({ name }) => name));
    const free = [...waiting].filter(
      ({ name }) => !refers.some(([child, parent]) => child === name && names.has(String(parent))),
    );
    if (free.length === 0)
      throw new Error(`cannot order the tables ${[...names].join(', ')}: they refer to one another`);
    for (const table of free) waiting.delete(table);
    ordered.push(...free);
  }
  return ordered;
}

/** Returns a function that writes rows of any table, one array parameter per column. */
function writerOn(connection: PostgresConnection): PostgresTarget['write'] {
  const texts = new Map<string, string>();
  return async ({ name, columns }, rows) => {
    const text = texts.get(name) ?? (await insertInto(connection, name, columns));
    texts.set(name, text);
    await connection
      .rows(
        text,
        columns.map((_, at) => rows.map((row) => row[at]!)),
      )
      .catch((error: unknown) => {
        throw Object.assign(new Error(`cannot write the table ${name}`, { cause: forCaller(error) }));
      });
  };
}

async function insertInto(connection: PostgresConnection, name: string, columns: readonly string[]): Promise<string> {
  const types = new Map(
    (
      await connection.rows(
        `SELECT column_name::text, data_type::text FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = $1`,
        [name],
      )
    ).map(([column, type]) => [column, String(type)]),
  );
  const values = columns.map((column, at) => `$${String(at + 1)}::${types.get(column) ?? 'text'}[]`);
  return `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) SELECT * FROM unnest(${values.join(', ')})`;
}

const createRowSource = (connection: PostgresConnection): RowSource => ({
  async tables() {
    const rows = await connection.rows(
      `SELECT tables.table_name::text, column_name::text FROM information_schema.tables AS tables
       JOIN information_schema.columns AS columns USING (table_schema, table_name)
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND tables.table_name <> 'larder_commits'
       ORDER BY tables.table_name, ordinal_position`,
    );
    const columnsByTable = new Map<string, string[]>();
    for (const [table, column] of rows.map((row) => row.map(String))) {
      columnsByTable.set(table!, [...(columnsByTable.get(table!) ?? []), column!]);
    }
    return [...columnsByTable].map(([name, columns]) => ({ name, columns }));
  },
  async *read({ name, columns }) {
    const key = await connection.rows(
      `SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
       WHERE indrelid = to_regclass($1) AND indisprimary ORDER BY array_position(indkey::int2[], attnum)`,
      [quoted(name)],
    );
    const order = key.length === 0 ? '' : ` ORDER BY ${key.map(([column]) => quoted(String(column))).join(', ')}`;
    await connection.script(
      `DECLARE rows_of NO SCROLL CURSOR FOR SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)}${order}`,
    );
    try {
      for (let count = 100; ;) {
        const rows = await connection.rows(`FETCH ${String(count)} FROM rows_of`);
        if (rows.length === 0) return;
        yield rows;
        const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 1);
        count = Math.max(1, Math.min(batch.rows, Math.floor((rows.length * batch.bytes) / bytes), 4 * count));
      }
    } finally {
      if (!connection.isLost) await connection.script('CLOSE rows_of').catch(() => undefined);
    }
  },
});
