// The interface to the database: a `sql` tag that keeps text and values apart, four methods for queries, and transactions.
import type { MaybePromise } from '#domain/maybe-promise.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;

/** Names of columns and their aliases. They become part of a statement's text, so they must be constants. */
export class Columns {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Names columns: `` columns`id, created_at AS "createdAt"` ``. */
export const columns = (text: TemplateStringsArray): Columns => new Columns(text.join(''));

/** Several values for the `IN` of a statement. */
export class List {
  readonly values: readonly (string | number)[];

  constructor(values: readonly (string | number)[]) {
    this.values = values;
  }
}

/** The values of an `IN`, any number of them: `` WHERE id IN ${list(ids)} ``. */
export const list = (values: readonly (string | number)[]): List => new List(values);

/** Returns the LIKE pattern for texts that contain this one. The statement must say `ESCAPE '\\'`. */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** A statement and its values, kept apart. The text is the same array on every call, so that it is prepared once. */
export interface SqlStatement {
  readonly text: readonly string[];
  readonly values: readonly (SqlValue | List)[];
}

/** Writes a statement: `` sql`SELECT … WHERE id = ${id}` ``. Only columns can become part of its text. */
export function sql(text: TemplateStringsArray, ...values: (SqlValue | List | Columns)[]): SqlStatement {
  if (!values.some(isColumns)) return { text, values: values as (SqlValue | List)[] };
  return {
    text: composed(text, values, values.filter(isColumns)),
    values: values.filter((value): value is SqlValue | List => !isColumns(value)),
  };
}

/**
 * Joins the statements of several rows, each `INSERT INTO … VALUES (…)` of one place in the source code, into one statement. At most
 * `maxJoinedRows` of them.
 */
export function joinRows(rows: readonly SqlStatement[]): SqlStatement {
  const { text } = rows[0]!;
  const bySize = joinedTexts.get(text) ?? new Map<number, readonly string[]>();
  joinedTexts.set(text, bySize);
  let joined = bySize.get(rows.length);
  if (joined === undefined) {
    const [head = '', ...rest] = text;
    const further = [`${rest.at(-1)!}, ${head.slice(head.lastIndexOf('('))}`, ...rest.slice(0, -1)];
    joined = [head, ...rest.slice(0, -1), ...rows.slice(1).flatMap(() => further), rest.at(-1)!];
    bySize.set(rows.length, joined);
  }
  return { text: joined, values: rows.flatMap(({ values }) => values) };
}

export const maxJoinedRows = 100;
const joinedTexts = new WeakMap<readonly string[], Map<number, readonly string[]>>();

const isColumns = (value: unknown): value is Columns => value instanceof Columns;

const texts = new WeakMap<TemplateStringsArray, { usedColumns: readonly Columns[]; text: readonly string[] }>();

/** Returns the text with the columns in it. It is built once for each place in the source code. */
function composed(
  text: TemplateStringsArray,
  values: readonly (SqlValue | List | Columns)[],
  usedColumns: readonly Columns[],
): readonly string[] {
  let cached = texts.get(text);
  if (cached === undefined) {
    const whole = [text[0]!];
    for (const [at, value] of values.entries()) {
      if (value instanceof Columns) whole.push(`${whole.pop()!}${value.text}${text[at + 1]!}`);
      else whole.push(text[at + 1]!);
    }
    cached = { usedColumns, text: whole };
    texts.set(text, cached);
  }
  if (!usedColumns.every((column, at) => column === cached.usedColumns[at]))
    throw new Error('a statement has the same columns every time');
  return cached.text;
}

export interface Queries {
  /** Returns the first row, or undefined. */
  get<Row>(statement: SqlStatement): Promise<Row | undefined>;
  all<Row>(statement: SqlStatement): Promise<Row[]>;
  /** Runs a statement that changes rows. Returns the number of rows that it changed. */
  run(statement: SqlStatement): Promise<number>;
  /**
   * Runs a statement that changes rows, if the caller needs neither their number nor a reason to continue after a failure. A server may
   * still be running it when the promise resolves. If it fails, so does its change, at the latest before the commit.
   */
  write(statement: SqlStatement): Promise<void>;
  /** Runs the text of a migration, which may contain several statements. */
  script(text: string): Promise<void>;
  /** Returns whether the row with this key exists and differs from its row digest. */
  isDamaged(table: string, key: Readonly<Record<string, SqlValue>>): Promise<boolean>;
  /** Returns whether a table of this name exists. A database of an older release may not have it. */
  hasTable(name: string): Promise<boolean>;
}

/** The state that the changes of one commit share, so that work for all of them is done once. A change that is rolled back leaves it as it was. */
export interface CommitState {
  /** The state that was left last; undefined until a change of the commit leaves one. */
  current(): unknown;
  /** Leaves a state for the changes after this one. `finish` runs once before the commit, with the state that was left last. */
  leave<State>(state: State, finish: (queries: Queries, state: State) => Promise<void>): void;
  /** Returns the result of `read`, which runs once for all changes of the commit. A change that makes the result wrong calls `forget`. */
  recall<Result>(key: object, read: () => Promise<Result>): Promise<Result>;
  forget(key: object): void;
}

/** A change in its transaction. `commit` is shared with the other changes of the same commit. */
export type TransactionWork<Result> = (queries: Queries, commit: CommitState) => Promise<Result>;

/** The methods that read records. */
export type ReadQueries = Pick<Queries, 'get' | 'all' | 'isDamaged' | 'hasTable'>;

/**
 * The database of a store. Queries outside a transaction see only committed rows. Changes are made only in transactions, one after the
 * other. Inside a transaction, do nothing but query the records: all other changes wait for it.
 */
export interface Database extends ReadQueries {
  /** The server that has the database, which processes of several hosts may use. Undefined if the database is a file of this host. */
  readonly server?: DatabaseServer;
  /**
   * Returns a number that changes after every commit, also of other processes, and is never older than the call. It is cheap enough for
   * every request, and not a promise if the engine need not query for it.
   */
  version(): MaybePromise<number>;
  /** Commits the change together with others that wait. `work` may run a second time, after the first run was rolled back. */
  transaction<Result>(work: TransactionWork<Result>): Promise<Result>;
  /** From now on, keeps a digest of every row that is written. Called once, after all migrations have run. */
  keepRowDigests(): void;
  /** Returns the size of the database in bytes. */
  size(): Promise<DatabaseSize>;
  close(): Promise<void>;
}

export interface DatabaseSize {
  bytes: number;
  /** Size of the write-ahead log. Undefined on a server, which manages its own log. */
  logBytes: number | undefined;
}

/** The server that has the database, as the store sees it. */
export interface DatabaseServer {
  /** Returns the time of the server. Fails within five seconds if the server does not answer. */
  clock(): Promise<Date>;
  /** Where the database is, in words for a person. */
  place: string;
  state(): Promise<ServerState>;
  /** Returns the session that holds the lock for changes, or undefined if no session holds it now. */
  lockHolder(): Promise<LockHolder | undefined>;
  /** Returns the name of the database if every role of the server may connect to it. */
  openDatabase(): Promise<string | undefined>;
  /** Returns the state of the connections of this process. */
  pool(): PoolFigures;
}

/** A session of a server that keeps other processes from changing the store. */
export interface LockHolder {
  role: string;
  /** The application name that the session gives; empty if it gives none. */
  application: string;
  /** Whether the role of the session is the role of the store. */
  isOwnRole: boolean;
}

/** The settings and the state of a server. */
export interface ServerState {
  version: string;
  /** Whether the server keeps checksums of its pages, and so notices corrupt ones. */
  checksums: boolean;
  /** Whether the server repairs a page that a power cut left half written, on every file system. */
  fullPageWrites: boolean;
  /** Whether the role of the store is a superuser. */
  isSuperuser: boolean;
  mayMakeTables: boolean;
  /** How many tables of the store belong to another role. */
  foreignTables: number;
  database: string;
  /** Whether every role may connect to the database. Such a role can take the lock for changes. */
  isOpenToAll: boolean;
  /** Connections in use on the server, and their maximum. */
  connections: { used: number; max: number };
  /** How far the server's clock is ahead of the clock of this host, and the uncertainty (half of the round trip), in milliseconds. */
  clock: { ahead: number; within: number };
}

export interface PoolFigures {
  /** Connections that are open, and how many of them have running queries. */
  open: number;
  used: number;
  /** Queries and changes that wait behind others. */
  waiting: number;
  /** Counted since the start: statements, retries, and lost connections. */
  queries: number;
  retries: number;
  lost: number;
}
