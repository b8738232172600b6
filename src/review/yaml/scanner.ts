// Splits a YAML text into tokens as go-yaml v2 does, which snapd and juju use (YAML 1.1, libyaml's rules): indentation determines where
// blocks begin and end. A `:` can make an earlier token a key, so that token waits in a queue.
import { isBlankOrEnd, isBreak, isBreakOrEnd, isWordChar, YamlCursor, type Mark } from './cursor.ts';
import { scanBlockScalar, scanPlainScalar, scanQuotedScalar } from './scalars.ts';

export type YamlToken =
  | { type: MarkToken; line: number }
  | { type: 'alias' | 'anchor'; line: number; name: string }
  | { type: 'tag'; line: number; handle: string; suffix: string }
  | { type: 'version'; line: number; version: string }
  | { type: 'tag-directive'; line: number; handle: string; prefix: string }
  | { type: 'scalar'; line: number; text: string; plain: boolean };

type MarkToken =
  | 'document-start'
  | 'document-end'
  | 'stream-end'
  | 'block-sequence'
  | 'block-mapping'
  | 'block-end'
  | 'flow-sequence'
  | 'flow-sequence-end'
  | 'flow-mapping'
  | 'flow-mapping-end'
  | 'flow-entry'
  | 'block-entry'
  | 'key'
  | 'value';

/** A token that a later `:` on the same line would make a key. */
interface PossibleKey {
  required: boolean;
  tokenNumber: number;
  mark: Mark;
}

/** The maximum length of a key in code points. */
const maxKeyLength = 1024;

const flowTokens: Record<string, MarkToken> = {
  '[': 'flow-sequence',
  '{': 'flow-mapping',
  ']': 'flow-sequence-end',
  '}': 'flow-mapping-end',
};

export class YamlScanner {
  readonly #cursor: YamlCursor;
  readonly #queue: YamlToken[] = [];
  /** The number of tokens taken from the queue. */
  #taken = 0;
  /** The indentation of the innermost block collection; -1 outside of any. */
  #indent = -1;
  readonly #indents: number[] = [];
  /** One for each open flow collection, and one for the block around them. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined];
  /** The index in `#keys` of each token that may become a key. */
  readonly #levelOfToken = new Map<number, number>();
  #keyAllowed = true;

  constructor(text: string) {
    this.#cursor = new YamlCursor(text);
  }

  /** The next token; it stays the next until it is skipped. */
  peek(): YamlToken {
    while (this.#queue.length === 0 || this.#mayBecomeKey(this.#taken)) this.#fetch();
    return this.#queue[0]!;
  }

  skip(): void {
    this.#queue.shift();
    this.#taken++;
  }

  get #flowLevel(): number {
    return this.#keys.length - 1;
  }

  #mayBecomeKey(tokenNumber: number): boolean {
    const level = this.#levelOfToken.get(tokenNumber);
    return level !== undefined && this.#isValidKey(level);
  }

  /** Whether the possible key on this level is still possible; removes it if not. */
  #isValidKey(level: number): boolean {
    const key = this.#keys[level];
    if (key === undefined) return false;
    const { line, index } = this.#cursor;
    if (key.mark.line >= line && key.mark.index + maxKeyLength >= index) return true;
    this.#forgetKey(level);
    return false;
  }

  #saveKey(): void {
    const cursor = this.#cursor;
    if (!this.#keyAllowed) return;
    const required = this.#flowLevel === 0 && this.#indent === cursor.column;
    const level = this.#flowLevel;
    this.#forgetKey(level);
    const tokenNumber = this.#taken + this.#queue.length;
    this.#keys[level] = { required, tokenNumber, mark: cursor.mark() };
    this.#levelOfToken.set(tokenNumber, level);
  }

  #forgetKey(level: number): void {
    const key = this.#keys[level];
    if (key === undefined) return;
    if (key.required) this.#cursor.fail("could not find expected ':'", key.mark.line);
    this.#keys[level] = undefined;
    this.#levelOfToken.delete(key.tokenNumber);
  }

  #push(type: MarkToken): void {
    this.#queue.push({ type, line: this.#cursor.line });
  }

  /** Opens a block collection if this column is deeper than the one around it; `at` is its position in the queue. */
  #rollIndent(column: number, type: MarkToken, line: number, at = this.#queue.length): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#queue.splice(at, 0, { type, line });
  }

  #unrollIndent(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#push('block-end');
      this.#indent = this.#indents.pop()!;
    }
  }

  #fetch(): void {
    this.#skipToToken();
    const cursor = this.#cursor;
    this.#unrollIndent(cursor.column);
    const char = cursor.peek();
    if (char === '') this.#fetchEnd();
    else if (cursor.column === 0 && char === '%') this.#fetchDirective();
    else if (cursor.isAtDocumentIndicator()) this.#fetchDocumentIndicator();
    else if (char === '[' || char === '{') this.#fetchFlowStart(char);
    else if (char === ']' || char === '}') this.#fetchFlowEnd(char);
    else if (char === ',') this.#fetchEntry('flow-entry');
    else if (char === '-' && isBlankOrEnd(cursor.peek(1))) this.#fetchBlockEntry();
    else if (char === '?' && (this.#flowLevel > 0 || isBlankOrEnd(cursor.peek(1)))) this.#fetchKey();
    else if (char === ':' && (this.#flowLevel > 0 || isBlankOrEnd(cursor.peek(1)))) this.#fetchValue();
    else this.#fetchContent(char);
    cursor.checkPrintable();
  }

  #fetchContent(char: string): void {
    const cursor = this.#cursor;
    if ((char === '|' || char === '>') && this.#flowLevel === 0) return this.#fetchBlockScalar(char === '|');
    this.#saveKey();
    this.#keyAllowed = false;
    const { line } = cursor;
    if (char === '*' || char === '&') this.#queue.push(this.#scanAnchor(char === '*' ? 'alias' : 'anchor'));
    else if (char === '!') this.#queue.push(this.#scanTag());
    else if (char === "'" || char === '"') {
      this.#queue.push({ type: 'scalar', line, text: scanQuotedScalar(cursor, char), plain: false });
    } else if (this.#startsPlainScalar(char)) {
      const { text, endsLine } = scanPlainScalar(cursor, this.#indent, this.#flowLevel > 0);
      if (endsLine) this.#keyAllowed = true;
      this.#queue.push({ type: 'scalar', line, text, plain: true });
    } else cursor.fail('found character that cannot start any token');
  }

  #startsPlainScalar(char: string): boolean {
    // `-`, `?` and `:` before a blank are already handled, and the latter two in a flow collection, too.
    return !isBlankOrEnd(char) && !'#%@`|>'.includes(char);
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      const tabs = this.#flowLevel > 0 || !this.#keyAllowed;
      while (cursor.peek() === ' ' || (tabs && cursor.peek() === '\t')) cursor.take();
      cursor.skipComment();
      if (!isBreak(cursor.peek())) return;
      cursor.takeBreak();
      if (this.#flowLevel === 0) this.#keyAllowed = true;
    }
  }

  #fetchEnd(): void {
    // No collection can have a pending key on a line that has ended.
    this.#cursor.endLine();
    this.#closeBlocks();
    this.#push('stream-end');
  }

  #closeBlocks(): void {
    this.#unrollIndent(-1);
    this.#forgetKey(this.#flowLevel);
    this.#keyAllowed = false;
  }

  #fetchDocumentIndicator(): void {
    this.#closeBlocks();
    this.#push(this.#cursor.peek() === '-' ? 'document-start' : 'document-end');
    this.#cursor.skip(3);
  }

  #fetchFlowStart(char: string): void {
    this.#saveKey();
    this.#keys.push(undefined);
    this.#keyAllowed = true;
    this.#push(flowTokens[char]!);
    this.#cursor.skip();
  }

  #fetchFlowEnd(char: string): void {
    this.#forgetKey(this.#flowLevel);
    if (this.#flowLevel > 0) this.#keys.pop();
    this.#keyAllowed = false;
    this.#push(flowTokens[char]!);
    this.#cursor.skip();
  }

  #fetchEntry(type: 'flow-entry' | 'block-entry'): void {
    this.#forgetKey(this.#flowLevel);
    this.#keyAllowed = true;
    this.#push(type);
    this.#cursor.skip();
  }

  #fetchBlockEntry(): void {
    this.#startBlock('block-sequence', 'block sequence entries are not allowed in this context');
    this.#fetchEntry('block-entry');
  }

  #startBlock(type: MarkToken, problem: string): void {
    if (this.#flowLevel > 0) return;
    const cursor = this.#cursor;
    if (!this.#keyAllowed) cursor.fail(problem);
    this.#rollIndent(cursor.column, type, cursor.line);
  }

  #fetchKey(): void {
    this.#startBlock('block-mapping', 'mapping keys are not allowed in this context');
    this.#forgetKey(this.#flowLevel);
    this.#keyAllowed = this.#flowLevel === 0;
    this.#push('key');
    this.#cursor.skip();
  }

  #fetchValue(): void {
    const level = this.#flowLevel;
    const key = this.#isValidKey(level) ? this.#keys[level] : undefined;
    if (key === undefined) {
      this.#startBlock('block-mapping', 'mapping values are not allowed in this context');
      this.#keyAllowed = level === 0;
    } else {
      const at = key.tokenNumber - this.#taken;
      this.#queue.splice(at, 0, { type: 'key', line: key.mark.line });
      this.#rollIndent(key.mark.column, 'block-mapping', key.mark.line, at);
      this.#keys[level] = undefined;
      this.#levelOfToken.delete(key.tokenNumber);
      this.#keyAllowed = false;
    }
    this.#push('value');
    this.#cursor.skip();
  }

  #fetchBlockScalar(literal: boolean): void {
    const { line } = this.#cursor;
    this.#forgetKey(this.#flowLevel);
    this.#keyAllowed = true;
    const text = scanBlockScalar(this.#cursor, literal, this.#indent);
    this.#queue.push({ type: 'scalar', line, text, plain: false });
  }

  #scanAnchor(type: 'alias' | 'anchor'): YamlToken {
    const cursor = this.#cursor;
    const { line } = cursor;
    cursor.skip();
    const name = cursor.takeWord();
    if (name === '' || (!isBlankOrEnd(cursor.peek()) && !'?:,]}%@`'.includes(cursor.peek())))
      cursor.fail('did not find expected alphabetic or numeric character');
    return { type, line, name };
  }

  #scanTag(): YamlToken {
    const cursor = this.#cursor;
    const { line } = cursor;
    let [handle, suffix] = ['', ''];
    if (cursor.peek(1) === '<') {
      cursor.skip(2);
      suffix = this.#scanTagUri('');
      if (cursor.peek() !== '>') cursor.fail("did not find the expected '>'");
      cursor.skip();
    } else {
      handle = this.#scanTagHandle();
      if (handle.length > 1 && handle.endsWith('!')) suffix = this.#scanTagUri('');
      else {
        suffix = this.#scanTagUri(handle);
        // A lone `!` is a tag of its own.
        [handle, suffix] = suffix === '' ? ['', '!'] : ['!', suffix];
      }
    }
    if (!isBlankOrEnd(cursor.peek())) cursor.fail('did not find expected whitespace or line break');
    return { type: 'tag', line, handle, suffix };
  }

  #scanTagHandle(): string {
    const cursor = this.#cursor;
    if (cursor.peek() !== '!') cursor.fail("did not find expected '!'");
    const handle = cursor.take() + cursor.takeWord();
    return cursor.peek() === '!' ? handle + cursor.take() : handle;
  }

  /** `head` is a handle that has turned out to be the beginning of the tag. */
  #scanTagUri(head: string): string {
    const cursor = this.#cursor;
    let uri = head.slice(1);
    while (cursor.peek() !== '' && (isWordChar(cursor.peek()) || ";/?:@&=+$,.!~*'()[]%".includes(cursor.peek()))) {
      if (cursor.peek() === '%' && !/^[0-9a-fA-F]{2}$/.test(cursor.peek(1) + cursor.peek(2)))
        cursor.fail('did not find URI escaped octet');
      uri += cursor.take();
    }
    if (head === '' && uri === '') cursor.fail('did not find expected tag URI');
    return uri;
  }

  #fetchDirective(): void {
    this.#closeBlocks();
    const cursor = this.#cursor;
    const { line } = cursor;
    cursor.skip();
    const name = cursor.takeWord();
    if (name === 'YAML') this.#queue.push({ type: 'version', line, version: this.#scanVersion() });
    else if (name === 'TAG') this.#queue.push({ type: 'tag-directive', line, ...this.#scanTagDirective() });
    else cursor.fail('found unknown directive name');
    cursor.skipBlanks();
    cursor.skipComment();
    if (!isBreakOrEnd(cursor.peek())) cursor.fail('did not find expected comment or line break');
  }

  #scanVersion(): string {
    const cursor = this.#cursor;
    cursor.skipBlanks();
    const [, version] = /^(\d{1,2}\.\d{1,2})(?!\d)/.exec(cursor.text.slice(cursor.position, cursor.position + 6)) ?? [];
    if (version === undefined) return cursor.fail('did not find expected version number');
    cursor.skip(version.length);
    return version;
  }

  #scanTagDirective(): { handle: string; prefix: string } {
    const cursor = this.#cursor;
    cursor.skipBlanks();
    const handle = this.#scanTagHandle();
    if (handle !== '!' && !handle.endsWith('!')) cursor.fail("did not find expected '!'");
    const blanks = cursor.position;
    cursor.skipBlanks();
    if (cursor.position === blanks) cursor.fail('did not find expected whitespace');
    return { handle, prefix: this.#scanTagUri('') };
  }
}
