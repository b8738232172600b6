// A statement as PostgreSQL reads it: the text that every engine has, with its values numbered and their types told.
import { List, type Statement, type Value } from '../database.ts';

/** What is sent: a text that is prepared once on each connection, under its name, and its values. */
export interface Prepared {
  name: string;
  text: string;
  values: unknown[];
}

/** By the text, and by which of the values are there: what is not there stands in the text. */
const known = new WeakMap<readonly string[], Map<string, { name: string; text: string }>>();
let names = 0;

export function prepared(statement: Statement): Prepared {
  const kinds = statement.values.map(kindOf).join(' ');
  const variants = known.get(statement.text) ?? new Map<string, { name: string; text: string }>();
  known.set(statement.text, variants);
  let variant = variants.get(kinds);
  if (variant === undefined) {
    variant = { name: `larder_${String(names++)}`, text: postgresText(statement) };
    variants.set(kinds, variant);
  }
  return { ...variant, values: statement.values.filter((value) => value !== null).map(sent) };
}

/**
 * The text with `$1`, `$2`… in it. PostgreSQL cannot always tell of which type a value is, as in `$1 IS NULL OR x = $2`, so that
 * is said; and what is nothing is written as `NULL`, which is of any type.
 */
export function postgresText({ text, values }: Statement): string {
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

/** `IN` a list of as many values as there are: one value, whose type follows from what is looked for, so it may be empty. */
function amongList(before: string, number: number): string {
  const among = /\b(NOT )?IN\s*$/.exec(before);
  if (among === null) throw new Error('a list stands behind IN');
  const operator = among[1] === undefined ? '= ANY' : '<> ALL';
  return `${before.slice(0, among.index)}${operator} ($${String(number)})`;
}

function kindOf(value: Value | List): string {
  if (value === null) return 'null';
  if (value instanceof List) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'double precision';
  return typeof value === 'object' ? 'bytea' : 'bigint';
}

const sent = (value: Value | List): unknown => {
  if (value instanceof List) return value.values;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
};
