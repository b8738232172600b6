// A position in a YAML text, counted as go-yaml counts it: lines from 0, and columns in code points.

/** Thrown for a text that go-yaml, the YAML reader of snapd and juju, refuses; `line` counts from 1. */
export class YamlFault extends Error {
  readonly line: number;

  constructor(problem: string, line: number) {
    super(problem);
    this.name = 'YamlFault';
    this.line = line;
  }
}

export interface Mark {
  /** The number of code points before it. */
  index: number;
  line: number;
  column: number;
}

/** Everything that YAML 1.1 does not count as a printable character. */
const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export const isBlank = (char: string): boolean => char === ' ' || char === '\t';
export const isBreak = (char: string): boolean =>
  char === '\n' || char === '\r' || char === '\x85' || char === '\u2028' || char === '\u2029';
/** At the end of the text, a character is the empty string. */
export const isBreakOrEnd = (char: string): boolean => char === '' || isBreak(char);
export const isBlankOrEnd = (char: string): boolean => isBlank(char) || isBreakOrEnd(char);
/** Characters of anchors, tag handles and directive names. */
export const isWordChar = (char: string): boolean => /^[0-9A-Za-z_-]$/.test(char);

export class YamlCursor {
  readonly text: string;
  position = 0;
  index = 0;
  line = 0;
  column = 0;
  readonly #unprintableAt: number;

  constructor(text: string) {
    this.text = text;
    this.#unprintableAt = text.search(unprintable);
    if (text.startsWith('\ufeff')) this.position = 1;
  }

  /** The character `ahead` code units from here; empty at the end of the text. */
  peek(ahead = 0): string {
    return this.text.charAt(this.position + ahead);
  }

  mark(): Mark {
    return { index: this.index, line: this.line, column: this.column };
  }

  /** Takes one character that is not a line break. */
  take(): string {
    const code = this.text.charCodeAt(this.position);
    const width = code >= 0xd800 && code <= 0xdbff ? 2 : 1;
    const char = this.text.slice(this.position, this.position + width);
    this.position += width;
    this.index++;
    this.column++;
    return char;
  }

  skip(count = 1): void {
    for (let done = 0; done < count; done++) this.take();
  }

  /** Takes a line break, and returns its value in a scalar. */
  takeBreak(): string {
    const char = this.peek();
    const width = char === '\r' && this.peek(1) === '\n' ? 2 : 1;
    this.position += width;
    this.index += width;
    this.line++;
    this.column = 0;
    return char === '\u2028' || char === '\u2029' ? char : '\n';
  }

  /** Ends the last line of a text without a break at its end. */
  endLine(): void {
    if (this.column !== 0) this.line++;
    this.column = 0;
  }

  skipBlanks(): void {
    while (isBlank(this.peek())) this.take();
  }

  /** Skips a comment up to the end of its line. */
  skipComment(): void {
    if (this.peek() !== '#') return;
    while (!isBreakOrEnd(this.peek())) this.take();
  }

  takeWord(): string {
    let word = '';
    while (isWordChar(this.peek())) word += this.take();
    return word;
  }

  /** Whether a line `---` or `...` is here, which ends every scalar. */
  isAtDocumentIndicator(indicators: readonly string[] = ['---', '...']): boolean {
    if (this.column !== 0) return false;
    const start = this.text.slice(this.position, this.position + 3);
    return indicators.includes(start) && isBlankOrEnd(this.peek(3));
  }

  /** Throws if the text read so far has a character that YAML does not allow. */
  checkPrintable(): void {
    if (this.#unprintableAt >= 0 && this.#unprintableAt < this.position)
      this.fail('control characters are not allowed');
  }

  fail(problem: string, line = this.line): never {
    throw new YamlFault(problem, line + 1);
  }
}
