// Reads and writes assertions (headers, body, signature) byte for byte as snapd's asserts library writes them. Nothing is normalised on
// reading, because the signature covers the exact bytes.
import { isUtf8 } from 'node:buffer';
import { Refusal } from '#domain/refusal.ts';

/** Value of a header. All scalars are strings. */
export type AssertionValue = string | readonly AssertionValue[] | { readonly [key: string]: AssertionValue };
/** Returns whether all scalars in a value are strings. */
export const isAssertionValue = (value: unknown): value is AssertionValue =>
  typeof value === 'string' ||
  (typeof value === 'object' && value !== null && Object.values(value).every(isAssertionValue));

export interface Headers {
  readonly [name: string]: AssertionValue;
}

export interface Assertion {
  readonly type: string;
  readonly headers: Headers;
  readonly body: string;
  readonly format: number;
  readonly revision: number;
  readonly signKeyId: string;
  /** The signed text: the headers and, after an empty line, the body. */
  readonly content: string;
  /** The signature text without its final newline. */
  readonly signature: string;
}

/** Media type of assertions. */
export const mediaType = 'application/x.ubuntu.assertion';

// Limits in bytes: those of snapd's stream decoder, and larder's own limit for a whole stream.
const headersLimit = 128 * 1024;
const bodyLimit = 2 * 1024 * 1024;
const signatureLimit = 128 * 1024;
export const streamLimit = 4 * 1024 * 1024;
/** Maximum number of assertions in a stream. */
export const streamCount = 256;
const depthLimit = 32;

/** Returns the complete text of an assertion. */
export const joined = ({ content, signature }: Pick<Assertion, 'content' | 'signature'>): string =>
  `${content}\n\n${signature}\n`;

/** Joins assertions into one stream, separated by empty lines. */
export const stream = (assertions: readonly Pick<Assertion, 'content' | 'signature'>[]): string =>
  assertions.map(joined).join('\n');

/** Parses a text that contains exactly one assertion. */
export function parseAssertion(input: string | Uint8Array): Assertion {
  const text = checkedText(input);
  const [assertion, end] = readOne(text, 0);
  if (end === text.length && ends(text, '\n\n'))
    throw no('the text ends in an empty line; nothing may follow the signature');
  if (end < text.length)
    throw no(`${bytes(text.length - end)} of other data follow the signature; one assertion is expected`);
  return assertion;
}

/** Parses a stream of assertions separated by empty lines, as `snap known` prints it. */
export function parseStream(input: string | Uint8Array): Assertion[] {
  const text = checkedText(input);
  const assertions: Assertion[] = [];
  for (let at = 0; at < text.length;) {
    if (assertions.length === streamCount) throw no(`there are more than ${streamCount} assertions`);
    const [assertion, end] = readOne(text, at);
    assertions.push(assertion);
    at = end;
  }
  return assertions;
}

/**
 * Returns the content to sign. Header order is the library's: type, format, authority-id, revision, the primary key in the order of its
 * type, all others sorted, body-length, sign-key-sha3-384.
 */
export function contentOf(
  type: string,
  primaryKey: readonly string[],
  headers: Headers,
  body: string,
  signKeyId: string,
): string {
  const first = ['format', 'authority-id', 'revision', ...primaryKey];
  const set = ['type', 'body-length', 'sign-key-sha3-384'];
  const others = Object.keys(headers).filter((name) => !first.includes(name) && !set.includes(name));
  const lines = [`type: ${type}`];
  for (const name of [...first, ...others.sort()]) {
    if (!Object.hasOwn(headers, name)) continue;
    const value = headers[name] as AssertionValue;
    // Format and revision default to zero, and zero is never written.
    if ((name === 'format' || name === 'revision') && value === '0') continue;
    lines.push(...written(headerName(name), value, 0));
  }
  if (body !== '') lines.push(`body-length: ${Buffer.byteLength(wellFormed(body))}`);
  lines.push(`sign-key-sha3-384: ${signKeyId}`);
  return lines.join('\n') + (body === '' ? '' : `\n\n${body}`);
}

/** Returns the lines of an entry: its introduction (`name:` or `  -`) and its value. Empty lists and maps produce no lines. */
function written(introduction: string, value: AssertionValue, indent: number): string[] {
  if (typeof value === 'string') {
    if (wellFormed(value).includes('\r'))
      throw new Error(`cannot write a carriage return in the header '${introduction}'`);
    if (!value.includes('\n')) return [`${introduction} ${value}`];
    const prefix = ' '.repeat(indent + 4);
    return [introduction, ...value.split('\n').map((line) => prefix + line)];
  }
  const prefix = ' '.repeat(indent + 2);
  const lines: string[] = [];
  if (isList(value)) {
    for (const member of value) {
      const ofMember = written(`${prefix}-`, member, indent + 2);
      // The library would silently omit an empty member, which changes the list.
      if (ofMember.length === 0) throw new Error(`cannot write an empty member of the list '${introduction}'`);
      lines.push(...ofMember);
    }
  } else {
    for (const key of Object.keys(value).sort()) {
      lines.push(...written(prefix + headerName(key), value[key] as AssertionValue, indent + 2));
    }
  }
  return lines.length === 0 ? [] : [introduction, ...lines];
}

function headerName(name: string): string {
  if (!validName.test(name)) throw new Error(`cannot write a header of the name ${quoted(name)}`);
  return `${name}:`;
}

function wellFormed(text: string): string {
  if (!text.isWellFormed()) throw new Error('cannot write text that is not valid Unicode');
  return text;
}

/** Returns the bytes after checking that they can be an assertion: size, UTF-8, line endings. */
function checkedText(input: string | Uint8Array): Buffer {
  if (typeof input === 'string' && !input.isWellFormed()) throw no('the text is not UTF-8');
  const text =
    typeof input === 'string' ? Buffer.from(input) : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (text.length > streamLimit) throw no(`the text is longer than ${bytes(streamLimit)}`);
  if (text.length === 0) throw no('the text is empty');
  if (!isUtf8(text)) throw no('the text is not UTF-8');
  if (text.indexOf('\ufeff') === 0)
    throw no('the text begins with a byte order mark; send the file exactly as it was made');
  if (text.includes('\r\n')) {
    throw no(
      'its lines end in CR LF (as e-mail and some editors make them), which breaks the signature; send the file exactly as it was made',
    );
  }
  return text;
}

/** Parses the assertion at `at`. Returns it with the offset of the next one. */
function readOne(text: Buffer, at: number): [Assertion, number] {
  if (text[at] === newline) throw no('there is an empty line before the headers');
  const headersEnd = text.indexOf('\n\n', at);
  if (headersEnd < 0) throw no('the empty line between the headers and the signature is missing');
  if (headersEnd - at > headersLimit) throw no(`the headers are longer than ${bytes(headersLimit)}`);
  const head = text.toString('utf8', at, headersEnd);
  const headers = readHeaders(head);

  const length = wholeNumber(headers, 'body-length');
  if (length > bodyLimit) throw no(`the body is longer than ${bytes(bodyLimit)}`);
  const contentEnd = length === 0 ? headersEnd : headersEnd + 2 + length;
  if (text.length < contentEnd + 2 || text[contentEnd] !== newline || text[contentEnd + 1] !== newline) {
    throw no(wrongLength(text, headersEnd + 2, length));
  }

  const signatureStart = contentEnd + 2;
  const blank = text.indexOf('\n\n', signatureStart);
  const signatureEnd = blank >= 0 ? blank : text.length - (ends(text, '\n') ? 1 : 0);
  if (signatureEnd <= signatureStart) throw no('the signature is missing');
  if (signatureEnd - signatureStart > signatureLimit) throw no(`the signature is longer than ${bytes(signatureLimit)}`);
  const signature = text.toString('utf8', signatureStart, signatureEnd);
  if (signature.includes('\ntype:')) throw no('the empty line between two assertions is missing');
  const end = blank >= 0 ? blank + 2 : text.length;
  // Every signature starts with the same characters, so a body without a body-length can be detected.
  if (length === 0 && end < text.length && !signature.startsWith('AcL')) {
    throw no(`body-length is missing, although a body of ${bytes(signatureEnd - signatureStart)} stands there`);
  }

  const type = headers['type'];
  if (typeof type !== 'string' || type === '') throw no("the header 'type' is missing");
  const signKeyId = headers['sign-key-sha3-384'];
  if (typeof signKeyId !== 'string' || !isKeyId(signKeyId))
    throw no("the header 'sign-key-sha3-384' is missing or is no key id");
  const [format, revision] = [wholeNumber(headers, 'format'), wholeNumber(headers, 'revision')];
  const body = length === 0 ? '' : text.toString('utf8', headersEnd + 2, contentEnd);
  // Without a body the content equals the head. Reusing that string saves memory, because the headers are slices of it.
  const content = length === 0 ? head : text.toString('utf8', at, contentEnd);
  return [{ type, headers, body, format, revision, signKeyId, content, signature }, end];
}

/** Returns whether a text is a key id: 48 bytes in base64url. */
export const isKeyId = (text: string): boolean => /^[A-Za-z0-9_-]{64}$/.test(text);

function wrongLength(text: Buffer, bodyStart: number, declared: number): string {
  const blank = text.indexOf('\n\n', bodyStart);
  return blank < 0
    ? `body-length says ${declared}, but the text ends before a body of that length and a signature`
    : `body-length says ${declared}, but the body has ${bytes(blank - bodyStart)}`;
}

/** Returns the value of a numeric header; zero if it is missing. */
function wholeNumber(headers: Headers, name: string): number {
  const value = headers[name];
  if (value === undefined) return 0;
  if (typeof value !== 'string' || !/^(?:0|[1-9][0-9]{0,14})$/.test(value)) {
    throw no(`the header '${name}' is ${quoted(value)}, but must be a whole number without sign or leading zeros`);
  }
  return Number(value);
}

function readHeaders(head: string): Headers {
  const reader = { lines: head.split('\n'), at: 0 };
  const headers = Object.create(null) as Record<string, AssertionValue>;
  while (reader.at < reader.lines.length) {
    const line = reader.lines[reader.at] as string;
    const name = introducedName(line, 0, 'a header');
    const value = readEntry(reader, name.length + 1, 0, 0);
    if (name in headers) throw no(`the header '${name}' is there twice`);
    headers[name] = value;
  }
  return headers;
}

interface LineReader {
  readonly lines: readonly string[];
  at: number;
}

/** Reads the value of the entry on the current line. Its introduction is the first `used` characters. */
function readEntry(reader: LineReader, used: number, indent: number, depth: number): AssertionValue {
  if (depth > depthLimit) throw no(`the headers are nested deeper than ${depthLimit}`);
  const line = reader.lines[reader.at++] as string;
  if (line.length > used) {
    if (line[used] !== ' ') throw no(`a space is missing before the value in the line ${quoted(line)}`);
    return line.slice(used + 1);
  }
  const prefix = ' '.repeat(indent + 2);
  const next = reader.lines[reader.at];
  if (next?.startsWith(`${prefix}-`)) return readList(reader, indent, depth);
  if (next?.startsWith(prefix) && next.length > prefix.length && next[prefix.length] !== ' ')
    return readMap(reader, indent, depth);
  return readText(reader, line, indent);
}

function readList(reader: LineReader, indent: number, depth: number): AssertionValue[] {
  const introduction = `${' '.repeat(indent + 2)}-`;
  const list: AssertionValue[] = [];
  while (reader.lines[reader.at]?.startsWith(introduction)) {
    list.push(readEntry(reader, introduction.length, indent + 2, depth + 1));
  }
  return list;
}

function readMap(reader: LineReader, indent: number, depth: number): AssertionValue {
  const prefix = ' '.repeat(indent + 2);
  const map = Object.create(null) as Record<string, AssertionValue>;
  for (;;) {
    const line = reader.lines[reader.at];
    if (!line?.startsWith(prefix)) return map;
    const key = introducedName(line, prefix.length, 'a member of a map');
    const value = readEntry(reader, prefix.length + key.length + 1, indent + 2, depth + 1);
    if (key in map) throw no(`the member '${key}' is there twice`);
    map[key] = value;
  }
}

function readText(reader: LineReader, introduction: string, indent: number): string {
  const prefix = ' '.repeat(indent + 4);
  const lines: string[] = [];
  while (reader.lines[reader.at]?.startsWith(prefix))
    lines.push((reader.lines[reader.at++] as string).slice(prefix.length));
  if (lines.length === 0)
    throw no(`the line ${quoted(introduction)} must be followed by lines indented by ${prefix.length} spaces`);
  return lines.join('\n');
}

function introducedName(line: string, start: number, expected: string): string {
  const colon = line.indexOf(':', start);
  if (colon < 0) throw no(`the line ${quoted(line)} is not ${expected}, which has a name and a colon`);
  const name = line.slice(start, colon);
  if (!validName.test(name)) throw no(`${quoted(name)} is not the name of ${expected}`);
  return name;
}

// Each repetition consumes a letter or digit, so the match is unambiguous and cannot backtrack.
const validName = /^[a-z](?:-?[a-z0-9])*$/;
const newline = 10;

const isList = (value: AssertionValue): value is readonly AssertionValue[] => Array.isArray(value);
const ends = (text: Buffer, end: string): boolean => text.subarray(-end.length).equals(Buffer.from(end));
const bytes = (count: number): string => `${count} ${count === 1 ? 'byte' : 'bytes'}`;
const no = (reason: string): Refusal => new Refusal('api-error', `This is not a well-formed assertion: ${reason}.`);

/** Quotes a value for an error message; long values are truncated. */
export function quoted(value: AssertionValue): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
