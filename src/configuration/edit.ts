// Changes single values of a TOML text and keeps the rest: comments, order, line ends.
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { entries, type TomlEntry } from './toml-text.ts';
import { putSection, valuesIn } from './keys.ts';

export type ConfigValue = string | number | boolean | readonly string[];

/** Returns the text with `value` for `section.key`, or without the key if `value` is undefined. `section` may be dotted. */
export function edit(text: string, section: string, key: string, value: ConfigValue | undefined): string {
  const all = [...entries(text)];
  const present = all.find(({ path }) => isDeepStrictEqual(path, [...section.split('.'), key]));
  if (value === undefined) {
    const without = present === undefined ? text : asComment(text, present);
    checkEdit(text, without, section, key, value);
    return without;
  }
  const written = tomlValue(value);
  const edited = present
    ? splice(text, present.valueFrom, present.to, written)
    : withNewKey(text, all, section, `${/^[\w-]+$/.test(key) ? key : tomlString(key)} = ${written}`);
  checkEdit(text, edited, section, key, value);
  return edited;
}

/** The text with a `#` before every line of a key. */
function asComment(text: string, { from, to }: TomlEntry): string {
  const begin = text.lastIndexOf('\n', from) + 1;
  return splice(text, begin, to, text.slice(begin, to).replaceAll(/^/gm, '# '));
}

/** Formats a value as TOML. */
export function tomlValue(value: ConfigValue): string {
  if (typeof value === 'string') return tomlString(value);
  if (typeof value !== 'object') return String(value);
  return `[${value.map(tomlString).join(', ')}]`;
}

/** JSON escapes all characters that TOML requires, except for the delete character. */
const tomlString = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

function withNewKey(text: string, all: readonly TomlEntry[], section: string, line: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const names = section.split('.');
  const isSection = ({ path }: TomlEntry) => isDeepStrictEqual(path, names);
  const isInSection = ({ path }: TomlEntry) => isDeepStrictEqual(path.slice(0, -1), names);
  const header = all.findIndex((entry) => entry.kind === 'section' && isSection(entry));
  if (header !== -1) {
    const next = all.findIndex(({ kind }, at) => at > header && kind === 'section');
    const last = all[(next === -1 ? all.length : next) - 1]!;
    const body = { from: lineEnd(text, all[header]!.to), to: next === -1 ? text.length : all[next]!.from };
    const shown = afterComment(text, body.from, body.to, line);
    const within = all.some(({ from, to }) => shown !== undefined && from < shown && shown < to);
    const at = shown === undefined || within ? lineEnd(text, last.to) : shown;
    return splice(text, at, at, `${newline}${line}`);
  }
  const inline = all.find((entry) => entry.kind === 'key' && isSection(entry));
  if (inline) {
    const first = all.find(isInSection);
    return splice(text, inline.valueFrom + 1, inline.valueFrom + 1, first ? ` ${line},` : ` ${line} `);
  }
  const dotted = all.findLast((entry) => entry.kind === 'key' && isInSection(entry));
  if (dotted) {
    const at = lineEnd(text, dotted.to);
    return splice(text, at, at, `${newline}${section}.${line}`);
  }
  const end = text === '' || text.endsWith('\n') ? text : text + newline;
  return `${end}${end === '' ? '' : newline}[${section}]${newline}${line}${newline}`;
}

/** The end of the line between `from` and `to` that shows the key as a comment, `# key = …`: the value belongs below it. */
function afterComment(text: string, from: number, to: number, line: string): number | undefined {
  const key = line.slice(0, line.indexOf(' '));
  const shown = new RegExp(`^[ \\t]*#[ \\t]*${key}[ \\t]*=`, 'm').exec(text.slice(from, to));
  return shown ? lineEnd(text, from + shown.index + shown[0].length) : undefined;
}

/** The end of the line of an offset, before its line break. */
function lineEnd(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset);
  if (feed === -1) return text.length;
  return text[feed - 1] === '\r' && feed > offset ? feed - 1 : feed;
}

const splice = (text: string, from: number, to: number, put: string) => text.slice(0, from) + put + text.slice(to);

/** Parses the result to check that the edit changed this value and nothing else. */
function checkEdit(before: string, after: string, section: string, key: string, value: ConfigValue | undefined): void {
  const expected: Record<string, unknown> = parse(before);
  const keys = Object.entries(valuesIn(expected, section)).filter(([name]) => name !== key);
  putSection(expected, section, Object.fromEntries(value === undefined ? keys : [...keys, [key, value]]));
  let got: Record<string, unknown>;
  try {
    got = parse(after);
  } catch (cause) {
    throw new Error(`cannot write ${section}.${key} into the configuration file`, { cause });
  }
  // The removed key may have been the only one of its section.
  if (value === undefined) putSection(got, section, valuesIn(got, section));
  if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(expected))) {
    throw new Error(`cannot write ${section}.${key} into the configuration file without changing another key`);
  }
}

/** The value with the members of tables sorted by name. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([name], [other]) => (name < other ? -1 : 1));
  return { table: members.map(([name, member]) => [name, sorted(member)]) };
}
