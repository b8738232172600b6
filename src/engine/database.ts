// The door to the database: a tag that keeps text and values apart, four verbs, and transactions.
import type { Soon } from '#domain/soon.ts';

export type Value = string | number | bigint | null | Uint8Array;

/** Names of columns with what they are called in a row; they become part of a statement's text, and are written once. */
export class Columns {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Names columns: `` columns`id, created_at AS "createdAt"` ``. */
export const columns = (text: TemplateStringsArray): Columns => new Columns(text.join(''));

/** Several values where a statement has `IN`. */
export class List {
  readonly values: readonly (string | number)[];

  constructor(values: readonly (string | number)[]) {
    this.values = values;
  }
}

/** The values of an `IN`, as many as there are: `` WHERE id IN ${list(ids)} ``. */
export const list = (values: readonly (string | number)[]): List => new List(values);

/** What LIKE matches of texts that hold this one, where the statement says `ESCAPE '\\'`. */
export const holding = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** A statement with its values kept apart; the text is the same array on every call, so that it is prepared once. */
export interface Statement {
  readonly text: readonly string[];
  readonly values: readonly (Value | List)[];
}

/** Writes a statement: `` sql`SELECT … WHERE id = ${id}` ``. Nothing can be concatenated into it but columns. */
export function sql(text: TemplateStringsArray, ...values: (Value | List | Columns)[]): Statement {
  if (!values.some(isColumns)) return { text, values: values as (Value | List)[] };
  return {
    text: composed(text, values, values.filter(isColumns)),
    values: values.filter((value): value is Value | List => !isColumns(value)),
  };
}

const isColumns = (value: unknown): value is Columns => value instanceof Columns;

const texts = new WeakMap<TemplateStringsArray, { named: readonly Columns[]; text: readonly string[] }>();

/** The text with the columns in it, made once for each place in the sources. */
function composed(
  text: TemplateStringsArray,
  values: readonly (Value | List | Columns)[],
  named: readonly Columns[],
): readonly string[] {
  let known = texts.get(text);
  if (known === undefined) {
    const whole = [text[0]!];
    for (const [at, value] of values.entries()) {
      if (value instanceof Columns) whole.push(`${whole.pop()!}${value.text}${text[at + 1]!}`);
      else whole.push(text[at + 1]!);
    }
    known = { named, text: whole };
    texts.set(text, known);
  }
  if (!named.every((one, at) => one === known.named[at]))
    throw new Error('a statement has the same columns every time');
  return known.text;
}

export interface Queries {
  /** The first row, or nothing. */
  get<Row>(statement: Statement): Promise<Row | undefined>;
  all<Row>(statement: Statement): Promise<Row[]>;
  /** Runs a statement that changes rows; the number it changed. */
  run(statement: Statement): Promise<number>;
  /** Runs the text of a migration, which may hold several statements. */
  script(text: string): Promise<void>;
  /** Whether the row with this key is there, and not as it was last written. */
  isDamaged(table: string, key: Readonly<Record<string, Value>>): Promise<boolean>;
  /** Whether there is a table of this name; a database of an older release may not have it. */
  hasTable(name: string): Promise<boolean>;
}

/** What it takes to read records. */
export type Reading = Pick<Queries, 'get' | 'all' | 'isDamaged' | 'hasTable'>;

/**
 * Queries outside a transaction see only what is committed; changes are made in transactions alone,
 * one after the other. Inside one, talk to nothing but the records: everybody else waits for it.
 */
export interface Database extends Reading {
  /** Where it lies on a server that processes of several hosts may use; nothing where it is a file of this host. */
  readonly server?: DatabaseServer;
  /**
   * A number that is another one after every commit, also of other processes, and never older than the question; cheap enough for
   * every request. It is there at once where the engine need not ask for it.
   */
  version(): Soon<number>;
  /** Committed with those that wait as well; `work` may be run a second time, when nothing is left of the first. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** From here on every row that is written has a digest; called once, when the tables are as they should be. */
  keepRowDigests(): void;
  /** What it takes, in bytes. */
  size(): Promise<DatabaseSize>;
  close(): Promise<void>;
}

export interface DatabaseSize {
  bytes: number;
  /** Of the log beside it; nothing where that is a matter of a server. */
  logBytes: number | undefined;
}

/** A server that has the database, as the store sees it. */
export interface DatabaseServer {
  /** What time it is there; fails within five seconds where it does not answer. */
  clock(): Promise<Date>;
  /** Where the database is, in words for a person. */
  place: string;
  state(): Promise<ServerState>;
  /** The session that holds the lock that changes need; undefined if none does at this moment. */
  lockHolder(): Promise<LockHolder | undefined>;
  /** How the connections of this process go. */
  pool(): PoolFigures;
}

/** A session of a server that keeps others from changing the store. */
export interface LockHolder {
  role: string;
  /** As the session calls itself; empty if it does not. */
  application: string;
  /** Whether its role is that of the store. */
  isOwnRole: boolean;
}

/** How a server is set and how it goes. */
export interface ServerState {
  version: string;
  /** Whether it would notice that a page is not as it was written. */
  checksums: boolean;
  /** Whether a page that a power cut has left half written is whole again afterwards, on every file system. */
  fullPageWrites: boolean;
  /** Whether the store comes there as somebody who may do everything. */
  isSuperuser: boolean;
  mayMakeTables: boolean;
  /** How many tables of the store belong to somebody else. */
  foreignTables: number;
  database: string;
  /** Whether every role may connect to the database, and so hold the lock that changes need. */
  isOpenToAll: boolean;
  /** How many connections it has, and how many it takes. */
  connections: { used: number; most: number };
  /** By how many milliseconds its clock is ahead of that of this machine, and how much of that may be the time of the answer. */
  clock: { ahead: number; within: number };
}

export interface PoolFigures {
  /** Connections that are open, and those of them that somebody waits for. */
  open: number;
  used: number;
  /** Questions and changes that wait behind others. */
  waiting: number;
  /** Since the start: statements, what was tried again, and connections that broke. */
  queries: number;
  retries: number;
  lost: number;
}
