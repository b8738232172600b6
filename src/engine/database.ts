// The door to the database: a tag that keeps text and values apart, four verbs, and transactions.

export type Value = string | number | bigint | null | Uint8Array;

/** A statement with its values kept apart; the text is the same array on every call, so that it is prepared once. */
export interface Statement {
  readonly text: TemplateStringsArray;
  readonly values: readonly Value[];
}

/** Writes a statement: `` sql`SELECT … WHERE id = ${id}` ``. Nothing can be concatenated into it. */
export const sql = (text: TemplateStringsArray, ...values: Value[]): Statement => ({ text, values });

export interface Queries {
  /** The first row, or nothing. */
  get<Row>(statement: Statement): Promise<Row | undefined>;
  all<Row>(statement: Statement): Promise<Row[]>;
  /** Runs a statement that changes rows; the number it changed. */
  run(statement: Statement): Promise<number>;
  /** Runs the text of a migration, which may hold several statements. */
  script(text: string): Promise<void>;
  /** Whether a row, by its rowid, is not as it was last written. */
  isDamaged(table: string, row: number): Promise<boolean>;
}

/** What it takes to read records. */
export type Reading = Pick<Queries, 'get' | 'all' | 'isDamaged'>;

/**
 * Queries outside a transaction see only what is committed; changes are made in transactions alone,
 * one after the other. Inside one, talk to nothing but the records: everybody else waits for it.
 */
export interface Database extends Reading {
  /** A number that is another one after every commit, also of other processes; cheap enough for every request. */
  version(): number;
  /** On a full disk `work` may be run a second time, when nothing is left of the first. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** From here on every row that is written has a digest; called once, when the tables are as they should be. */
  keepRowDigests(): void;
  close(): Promise<void>;
}
