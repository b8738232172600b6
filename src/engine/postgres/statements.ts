// Turns a statement into PostgreSQL's syntax: numbers its values and gives their types.
import { List, type SqlStatement, type SqlValue } from '../database.ts';

/** A prepared statement: a text that is prepared once on each connection under its name, and the values. */
export interface PostgresStatement {
  name: string;
  text: string;
  values: unknown[];
}

/** By text, and by the kinds of the values: NULL is part of the text, so each combination has its own text. */
const variantsByText = new WeakMap<readonly string[], Map<string, { name: string; text: string }>>();
let names = 0;

export function prepareStatement(statement: SqlStatement): PostgresStatement {
  const kinds = statement.values.map(kindOf).join(' ');
  const variants = variantsByText.get(statement.text) ?? new Map<string, { name: string; text: string }>();
  variantsByText.set(statement.text, variants);
  let variant = variants.get(kinds);
  if (variant === undefined) {
    variant = { name: `larder_${String(names++)}`, text: postgresText(statement) };
    variants.set(kinds, variant);
  }
  return { ...variant, values: statement.values.filter((value) => value !== null).map(sent) };
}

/**
 * Returns the text with `$1`, `$2`… in it. PostgreSQL cannot always infer the type of a value, as in `$1 IS NULL OR x = $2`, so each has a
 * cast. A null is written as `NULL`, which fits any type.
 */
export function postgresText({ text, values }: SqlStatement): string {
  let number = 0;
  let whole = text[0]!;
  for (const [at, value] of values.entries()) {
    if (value === null) whole += 'NULL';
    else if (value instanceof List) whole = amongList(whole, ++number);
    else whole += `$${String(++number)}::${typeof value === 'string' ? 'text COLLATE "C"' : kindOf(value)}`;
    whole += text[at + 1]!;
  }
  return whole;
}

/** Replaces `IN` with a comparison to one array, which may be empty. Its type follows from the compared column. */
function amongList(before: string, number: number): string {
  const among = /\b(NOT )?IN\s*$/.exec(before);
  if (among === null) throw new Error('a list must follow IN');
  const operator = among[1] === undefined ? '= ANY' : '<> ALL';
  return `${before.slice(0, among.index)}${operator} ($${String(number)})`;
}

function kindOf(value: SqlValue | List): string {
  if (value === null) return 'null';
  if (value instanceof List) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'double precision';
  return typeof value === 'object' ? 'bytea' : 'bigint';
}

const sent = (value: SqlValue | List): unknown => {
  if (value instanceof List) return value.values;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
};
