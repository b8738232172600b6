// One query by a prepared statement. The client's own query asks for the columns of each result, and the server sends their names and types
// every time. For a prepared statement they stay the same, so this one asks once per connection. With one timer for all queries of a
// connection, a list by 32 clients takes a seventh less processor time (`LARDER_ONLY='engines: a list' npm run bench -- scale`).
import pg from 'pg';

import type { PostgresStatement } from './statements.ts';

/** The columns of the rows of a prepared statement. The server refuses a statement if its columns have changed (`isStale`). */
interface RowShape {
  names: readonly string[];
  /** Undefined for a text, which is taken as it is. */
  parsers: readonly (((text: string) => unknown) | undefined)[];
  /** A row with all columns, to be copied. */
  empty: Readonly<Record<string, unknown>>;
}

/** The columns of each prepared statement of a connection, by its name. */
export type RowShapes = Map<string, RowShape>;

export type ParserOf = (type: number, format?: 'text' | 'binary') => (text: string) => unknown;

/** The parts of the client's connection and query that this one uses. The client accepts only queries of its own class. */
interface ClientConnection {
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly unknown[]; valueMapper(value: unknown): unknown }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}
interface ClientQuery {
  name: string;
  _result: { rows: unknown[] };
  handleCommandComplete(message: unknown, connection: ClientConnection): void;
}
const ClientQuery = pg.Query as unknown as new (text: string) => ClientQuery;

/** PostgreSQL's number of the type TEXT. */
const textType: number = pg.types.builtins.TEXT;

export class PreparedQuery extends ClientQuery {
  readonly #statement: PostgresStatement;
  readonly #shapes: RowShapes;
  readonly #parserOf: ParserOf;
  #shape: RowShape | undefined;

  constructor(statement: PostgresStatement, shapes: RowShapes, parserOf: ParserOf) {
    super(statement.text);
    this.name = statement.name;
    this.#statement = statement;
    this.#shapes = shapes;
    this.#parserOf = parserOf;
  }

  /** Sends the query. Called by the client. */
  submit(connection: ClientConnection): null {
    const { name, text, values } = this.#statement;
    if (connection.parsedStatements[name] === undefined && connection.submittedNamedStatements[name] === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values, valueMapper: toParameter });
    this.#shape = this.#shapes.get(name);
    if (this.#shape === undefined) connection.describe({ type: 'P' });
    connection.execute({});
    connection.sync();
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#keepShape({
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) =>
        dataTypeID === textType ? undefined : this.#parserOf(dataTypeID, 'text'),
      ),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    });
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers, empty } = this.#shape!;
    const row: Record<string, unknown> = { ...empty };
    for (let at = 0; at < fields.length; at++) {
      const text = fields[at] as string | null;
      const parse = parsers[at];
      if (text !== null) row[names[at]!] = parse === undefined ? text : parse(text);
    }
    this._result.rows.push(row);
  }

  override handleCommandComplete(message: unknown, connection: ClientConnection): void {
    // A statement without rows has no description.
    if (this.#shape === undefined) this.#keepShape({ names: [], parsers: [], empty: {} });
    super.handleCommandComplete(message, connection);
  }

  #keepShape(shape: RowShape): void {
    this.#shape = shape;
    this.#shapes.set(this.name, shape);
  }
}

/** A value as PostgreSQL reads it: a text, or bytes. */
function toParameter(value: unknown): string | Buffer {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value;
  return Array.isArray(value) ? `{${value.map(toElement).join(',')}}` : String(value);
}

/** An element of an array, in PostgreSQL's syntax for arrays. */
const toElement = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `"${value.replace(/["\\]/g, '\\$&')}"`;
