// Finds the positions of keys and values in a TOML text. The parser returns values only; with the positions a wrong value is reported with
// its line, and a changed value replaces the old one in place.
import { parse } from 'smol-toml';

export interface TomlEntry {
  /** `section` for a header, `key` for a key with its value, `element` for a member of a list. */
  readonly kind: 'section' | 'key' | 'element';
  /** Names, and positions within lists, from the root of the document. */
  readonly path: readonly (string | number)[];
  /** The line of its beginning, from 1. */
  readonly line: number;
  /** Offsets of its beginning and end in the text; a key includes its value. */
  readonly from: number;
  readonly to: number;
  /** Offset of the value; for a header the offset of the header. */
  readonly valueFrom: number;
}

type TomlPath = TomlEntry['path'];

/**
 * Yields all entries of a text in order, members before the list or table around them. Expects a text that the parser accepts; at an
 * unreadable place it throws, after all entries before it.
 */
export function* entries(text: string): Generator<TomlEntry> {
  const scan = new TomlScanner(text);
  const counts = new Map<string, number>();
  let section: TomlPath = [];
  while (scan.more()) {
    const from = scan.at;
    if (!scan.take('[')) {
      yield* scan.keyAndValue(section);
      continue;
    }
    const list = scan.take('[');
    const names = scan.key();
    scan.expect(list ? ']]' : ']');
    section = names.reduce<TomlPath>((path, name, at) => {
      const next = [...path, name];
      const id = JSON.stringify(next);
      if (list && at === names.length - 1) counts.set(id, (counts.get(id) ?? 0) + 1);
      const count = counts.get(id);
      return count === undefined ? next : [...next, count - 1];
    }, []);
    yield { kind: 'section', path: section, line: scan.line(from), from, to: scan.at, valueFrom: from };
  }
}

/** The entry at `path`, or the nearest one around it. */
export function entryOf(all: readonly TomlEntry[], path: TomlPath): TomlEntry {
  for (let length = path.length; length > 0; length--) {
    const within = all.filter((entry) => path.slice(0, length).every((name, at) => entry.path[at] === name));
    // If only members are written, such as dotted keys of a section, the first member represents it.
    const match = within.find((entry) => entry.path.length === length) ?? within[0];
    if (match) return match;
  }
  throw new Error('cannot find a parsed entry in the TOML text');
}

/** The first entry that the text repeats; undefined if there is none or if the text cannot be read. */
export function findRepeatedEntry(text: string): { first: TomlEntry; again: TomlEntry } | undefined {
  const seen = new Map<string, TomlEntry>();
  try {
    for (const entry of entries(text)) {
      const id = JSON.stringify(entry.path);
      const first = seen.get(id);
      if (first) return { first, again: entry };
      seen.set(id, entry);
    }
  } catch {
    // The text is too broken to find it; the message of the parser must be sufficient.
  }
  return undefined;
}

class TomlScanner {
  readonly text: string;
  at = 0;
  #line = 1;
  #counted = 0;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** The line of an offset. Call it in ascending order, so that each character is scanned once. */
  line(offset: number): number {
    if (offset < this.#counted) [this.#line, this.#counted] = [1, 0];
    for (; this.#counted < offset; this.#counted++) if (this.text[this.#counted] === '\n') this.#line++;
    return this.#line;
  }

  /** Skips to the next entry; false at the end. */
  more(): boolean {
    this.blank();
    return !this.done;
  }

  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token))
      throw new Error(`cannot read the TOML text: '${token}' expected on line ${this.line(this.at)}`);
  }

  /** Skips spaces, line breaks and comments. */
  blank(): void {
    this.#match(/(?:[ \t\r\n\ufeff]|#[^\n]*)*/y);
  }

  /** The names of a dotted key. */
  key(): string[] {
    const names: string[] = [];
    do {
      this.#match(/[ \t]*/y);
      const from = this.at;
      const quoted = this.text[from] === '"' || this.text[from] === "'";
      if (quoted) this.#string();
      else if (this.#match(/[A-Za-z0-9_-]+/y) === '') this.expect('a key');
      const written = this.text.slice(from, this.at);
      names.push(quoted ? (parse(`name = ${written}`)['name'] as string) : written);
      this.#match(/[ \t]*/y);
    } while (this.take('.'));
    return names;
  }

  *keyAndValue(parent: TomlPath): Generator<TomlEntry> {
    const from = this.at;
    const line = this.line(from);
    const path = [...parent, ...this.key()];
    this.expect('=');
    this.#match(/[ \t]*/y);
    const valueFrom = this.at;
    yield* this.#value(path);
    yield { kind: 'key', path, line, from, to: this.at, valueFrom };
  }

  *#value(path: TomlPath): Generator<TomlEntry> {
    const first = this.text[this.at];
    if (first === '"' || first === "'") this.#string();
    else if (first === '[') yield* this.#list(path);
    else if (first === '{') yield* this.#table(path);
    // Numbers, dates (which may contain a space) and words end at the end of the line, at a comment, or at the next list member.
    else {
      const written = this.#match(/[^,\]}#\r\n]*/y);
      this.at -= written.length - written.trimEnd().length;
    }
  }

  *#list(path: TomlPath): Generator<TomlEntry> {
    this.expect('[');
    for (let position = 0; this.blank(), !this.take(']'); position++) {
      const from = this.at;
      const member = [...path, position];
      const line = this.line(from);
      yield* this.#value(member);
      yield { kind: 'element', path: member, line, from, to: this.at, valueFrom: from };
      this.#comma(']');
    }
  }

  *#table(path: TomlPath): Generator<TomlEntry> {
    this.expect('{');
    while ((this.blank(), !this.take('}'))) {
      yield* this.keyAndValue(path);
      this.#comma('}');
    }
  }

  #comma(end: string): void {
    this.blank();
    if (!this.text.startsWith(end, this.at)) this.expect(',');
  }

  #string(): void {
    const quote = this.text[this.at]!;
    const long = this.text.startsWith(quote.repeat(3), this.at);
    const end = long ? quote.repeat(3) : quote;
    this.at += end.length;
    while (!this.text.startsWith(end, this.at)) {
      if (this.done) this.expect(end);
      this.at += quote === '"' && this.text[this.at] === '\\' ? 2 : 1;
    }
    this.at += end.length;
    // Up to two quotes may be directly before the three that close a long string.
    for (let more = 0; long && more < 2 && this.text[this.at] === quote; more++) this.at++;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [matched = ''] = pattern.exec(this.text) ?? [];
    this.at += matched.length;
    return matched;
  }
}
