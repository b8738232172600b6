// Reads the three forms of YAML scalars: block (`|`, `>`), quoted, and plain. Continuation lines of quoted scalars may
// begin in any column, as in go-yaml.
import { isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, type YamlCursor } from './cursor.ts';

/** Reads a block scalar; `indent` is the indentation of the collection around it (-1 for none). */
export function scanBlockScalar(cursor: YamlCursor, literal: boolean, indent: number): string {
  cursor.skip();
  const { chomping, increment } = scanBlockHeader(cursor);
  const lines = new BlockLines(cursor, indent, increment);
  let text = '';
  let leadingBreak = '';
  let leadingBlank = false;
  let breaks = lines.skipBreaks();
  while (cursor.column === lines.indent && cursor.peek() !== '') {
    const blank = isBlank(cursor.peek());
    const folds = !literal && !leadingBlank && !blank && leadingBreak === '\n';
    if (!folds) text += leadingBreak;
    else if (breaks === '') text += ' ';
    text += breaks;
    leadingBlank = blank;
    text += takeLine(cursor);
    leadingBreak = isBreak(cursor.peek()) ? cursor.takeBreak() : '';
    breaks = lines.skipBreaks();
  }
  if (chomping !== '-') text += leadingBreak;
  if (chomping === '+') text += breaks;
  return text;
}

function takeLine(cursor: YamlCursor): string {
  const { position } = cursor;
  while (!isBreakOrEnd(cursor.peek())) cursor.take();
  return cursor.text.slice(position, cursor.position);
}

/** Reads the signs after `|` or `>`: a chomping indicator and an indentation indicator, in either order. */
function scanBlockHeader(cursor: YamlCursor): { chomping: string; increment: number } {
  let chomping = '';
  let increment = 0;
  for (let sign = 0; sign < 2; sign++) {
    const char = cursor.peek();
    if (chomping === '' && (char === '+' || char === '-')) chomping = cursor.take();
    else if (increment === 0 && /^\d$/.test(char)) {
      increment = Number(cursor.take());
      if (increment === 0) cursor.fail('found an indentation indicator equal to 0');
    }
  }
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.peek())) cursor.fail('did not find expected comment or line break');
  if (isBreak(cursor.peek())) cursor.takeBreak();
  return { chomping, increment };
}

/** The indentation of a block scalar's lines: given by its header, or by its first line that is not empty. */
class BlockLines {
  indent: number;
  readonly #cursor: YamlCursor;
  readonly #least: number;

  constructor(cursor: YamlCursor, parentIndent: number, increment: number) {
    this.#cursor = cursor;
    this.#least = Math.max(parentIndent + 1, 1);
    this.indent = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment;
  }

  /** Skips empty lines and the indentation of the next one; returns the breaks. */
  skipBreaks(): string {
    const cursor = this.#cursor;
    let breaks = '';
    let widest = 0;
    for (;;) {
      while (this.#isInIndent() && cursor.peek() === ' ') cursor.take();
      widest = Math.max(widest, cursor.column);
      if (this.#isInIndent() && cursor.peek() === '\t')
        cursor.fail('found a tab character where an indentation space is expected');
      if (!isBreak(cursor.peek())) break;
      breaks += cursor.takeBreak();
    }
    if (this.indent === 0) this.indent = Math.max(widest, this.#least);
    return breaks;
  }

  #isInIndent(): boolean {
    return this.indent === 0 || this.#cursor.column < this.indent;
  }
}

/** The white space between two pieces of a plain or quoted scalar; line breaks are folded. */
class Gap {
  #blanks = '';
  #firstBreak = '';
  #breaks = '';
  hasBreak = false;

  /** `escaped`: a backslash has joined this line to the next, so the break is dropped. */
  constructor(escaped = false) {
    this.hasBreak = escaped;
  }

  get isEmpty(): boolean {
    return !this.hasBreak && this.#blanks === '';
  }

  /** Reads white space up to the next character of text. Calls `refuseTab` for each tab at the beginning of a line. */
  scan(cursor: YamlCursor, refuseTab: () => void = () => undefined): void {
    for (let char = cursor.peek(); isBlank(char) || isBreak(char); char = cursor.peek()) {
      if (isBreak(char)) {
        if (this.hasBreak) this.#breaks += cursor.takeBreak();
        else this.#firstBreak = cursor.takeBreak();
        this.hasBreak = true;
        continue;
      }
      if (this.hasBreak && char === '\t') refuseTab();
      const blank = cursor.take();
      if (!this.hasBreak) this.#blanks += blank;
    }
  }

  text(): string {
    if (!this.hasBreak) return this.#blanks;
    if (this.#firstBreak !== '\n') return this.#firstBreak + this.#breaks;
    return this.#breaks === '' ? ' ' : this.#breaks;
  }
}

/** Reads a quoted scalar; `quote` is its opening quote. */
export function scanQuotedScalar(cursor: YamlCursor, quote: string): string {
  const { line } = cursor;
  cursor.skip();
  let text = '';
  for (;;) {
    if (cursor.isAtDocumentIndicator())
      cursor.fail('found a document indicator in a quoted scalar that begins here', line);
    if (cursor.peek() === '') cursor.fail('found the end of the text in a quoted scalar that begins here', line);
    const piece = scanQuotedPiece(cursor, quote);
    text += piece.text;
    if (cursor.peek() === quote) break;
    const gap = new Gap(piece.escaped);
    gap.scan(cursor);
    text += gap.text();
  }
  cursor.skip();
  return text;
}

/** The characters up to white space, the closing quote, or an escaped line break. */
function scanQuotedPiece(cursor: YamlCursor, quote: string): { text: string; escaped: boolean } {
  let text = '';
  while (!isBlankOrEnd(cursor.peek())) {
    const char = cursor.peek();
    if (char === quote) {
      if (quote === '"' || cursor.peek(1) !== quote) break;
      cursor.skip(2);
      text += quote;
    } else if (char === '\\' && quote === '"') {
      cursor.skip();
      if (isBreak(cursor.peek())) {
        cursor.takeBreak();
        return { text, escaped: true };
      }
      text += scanEscape(cursor);
    } else text += cursor.take();
  }
  return { text, escaped: false };
}

const escapes: Record<string, string> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};
const escapeLengths: Record<string, number> = { x: 2, u: 4, U: 8 };

/** The character for an escape sequence after a backslash. */
function scanEscape(cursor: YamlCursor): string {
  const char = cursor.peek();
  const length = Object.hasOwn(escapeLengths, char) ? escapeLengths[char]! : 0;
  if (length === 0) {
    if (!Object.hasOwn(escapes, char)) cursor.fail('found unknown escape character');
    cursor.skip();
    return escapes[char]!;
  }
  cursor.skip();
  const digits = cursor.text.slice(cursor.position, cursor.position + length);
  if (digits.length !== length || !/^[0-9a-fA-F]+$/.test(digits))
    cursor.fail('did not find expected hexadecimal number');
  const code = Number.parseInt(digits, 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    cursor.fail('found an escape that is no Unicode character');
  cursor.skip(length);
  return String.fromCodePoint(code);
}

export interface PlainScalar {
  text: string;
  /** Whether a line break follows it. */
  endsLine: boolean;
}

/** Reads a plain scalar; in a flow collection it also ends at `,`, `?` and brackets. */
export function scanPlainScalar(cursor: YamlCursor, indent: number, inFlow: boolean): PlainScalar {
  let text = '';
  let gap = new Gap();
  for (;;) {
    if (cursor.isAtDocumentIndicator() || cursor.peek() === '#') break;
    const piece = scanPlainPiece(cursor, inFlow);
    if (piece !== '') {
      text += gap.text() + piece;
      gap = new Gap();
    }
    if (!isBlank(cursor.peek()) && !isBreak(cursor.peek())) break;
    gap.scan(cursor, () => {
      if (cursor.column < indent + 1) cursor.fail('found a tab character that violates indentation');
    });
    if (!inFlow && cursor.column < indent + 1) break;
  }
  return { text, endsLine: gap.hasBreak };
}

function scanPlainPiece(cursor: YamlCursor, inFlow: boolean): string {
  const { position } = cursor;
  for (let char = cursor.peek(); !isBlankOrEnd(char); char = cursor.peek()) {
    if (char === ':' && isBlankOrEnd(cursor.peek(1))) break;
    if (inFlow && ',?[]{}'.includes(char)) break;
    cursor.take();
  }
  return cursor.text.slice(position, cursor.position);
}
