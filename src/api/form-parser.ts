// Cuts forms (multipart/form-data, RFC 7578) into their parts while they arrive. Each piece of the body is searched once for
// the boundary, and what lies between two boundaries is handed on as it is, without a copy.
import { Refusal } from '#domain/refusal.ts';

/** Told of a form, in the order in which it comes. */
export interface FormReader {
  /** A part begins. A file name counts as one also when it has no letters. */
  part(name: string | undefined, fileName: string | undefined): void;
  /** Bytes of the part that began last. */
  content(bytes: Buffer): void;
  /** The part that began last is whole. */
  end(): void;
}

/** What is said of a form whose last boundary never comes. */
export const cutOff = 'The form is cut off: its closing boundary is missing.';

/** How many bytes of headers a part may have, and what stands behind a boundary on its line. */
const longest = { headers: 16 * 1024, line: 128 };
const newLine = '\r\n';
const carriageReturn = 13;

export class FormParser {
  readonly #reader: FormReader;
  readonly #boundary: Buffer;
  /** What the next byte belongs to: what may stand before the first boundary, the line of a boundary, a part, or what is behind the last. */
  #place: 'preamble' | 'line' | 'headers' | 'content' | 'epilogue' = 'preamble';
  /**
   * How many bytes of a boundary stood at the end of what has come. For the first boundary of a form, which may stand at
   * its very beginning, the line break is thought there; for all others it is part of the boundary.
   */
  #begun = newLine.length;
  /** What has come of a line. */
  #line = '';
  /** What has come of a part's headers, behind the end of the line before them. */
  #headers = Buffer.from(newLine);

  /** The boundary is one that `boundaryOf` has let pass. */
  constructor(boundary: string, reader: FormReader) {
    this.#boundary = Buffer.from(`${newLine}--${boundary}`);
    this.#reader = reader;
  }

  /** Takes the next bytes of the body. Throws a `Refusal` when they belong to no form. */
  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at = this.#readOn(bytes, at);
  }

  /** Whether the last boundary has come. */
  get isWhole(): boolean {
    return this.#place === 'epilogue';
  }

  /** Reads on from a place in these bytes; how far. */
  #readOn(bytes: Buffer, at: number): number {
    if (this.#place === 'line') return this.#readLine(bytes, at);
    if (this.#place === 'headers') return this.#readHeaders(bytes, at);
    if (this.#place === 'epilogue') return this.#readEpilogue(bytes, at);
    return this.#begun > 0 ? this.#goOnWithBoundary(bytes, at) : this.#readContent(bytes, at);
  }

  #readContent(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(this.#boundary, at);
    const end = found < 0 ? this.#beginningOfBoundary(bytes, at) : found;
    this.#handOn(bytes.subarray(at, end));
    if (found < 0) {
      this.#begun = bytes.length - end;
      return bytes.length;
    }
    this.#endContent();
    return found + this.#boundary.length;
  }

  /** Where at the end of these bytes a boundary begins, or their end: at the last carriage return, as it has no other. */
  #beginningOfBoundary(bytes: Buffer, at: number): number {
    const last = bytes.lastIndexOf(carriageReturn);
    const length = bytes.length - last;
    if (last < at || length >= this.#boundary.length) return bytes.length;
    return bytes.compare(this.#boundary, 0, length, last) === 0 ? last : bytes.length;
  }

  /** A boundary began with the bytes before: either it goes on with these, or that was content. */
  #goOnWithBoundary(bytes: Buffer, at: number): number {
    const begun = this.#begun;
    const more = Math.min(this.#boundary.length - begun, bytes.length - at);
    if (bytes.compare(this.#boundary, begun, begun + more, at, at + more) !== 0) {
      this.#begun = 0;
      this.#handOn(this.#boundary.subarray(0, begun));
      return at;
    }
    this.#begun += more;
    if (this.#begun === this.#boundary.length) this.#endContent();
    return at + more;
  }

  #handOn(content: Buffer): void {
    if (this.#place === 'content' && content.length > 0) this.#reader.content(content);
  }

  #endContent(): void {
    if (this.#place === 'content') this.#reader.end();
    this.#begun = 0;
    this.#line = '';
    this.#place = 'line';
  }

  /** Two hyphens behind a boundary say that it is the last one; behind others only spaces may stand. */
  #readLine(bytes: Buffer, at: number): number {
    let next = at;
    while (next < bytes.length) {
      this.#line += String.fromCharCode(bytes[next++] ?? 0);
      if (this.#line === '--') {
        this.#line = '';
        this.#place = 'epilogue';
        return next;
      }
      if (/^[ \t]*\r\n$/.test(this.#line)) {
        this.#place = 'headers';
        return next;
      }
      if (!/^(?:-|[ \t]*\r?)$/.test(this.#line) || this.#line.length > longest.line)
        throw refusal('A boundary of the form is followed by something else.');
    }
    return next;
  }

  #readHeaders(bytes: Buffer, at: number): number {
    const before = this.#headers.length;
    const headers = Buffer.concat([this.#headers, bytes.subarray(at, at + longest.headers)]);
    const end = headers.indexOf(newLine + newLine);
    if (end < 0) {
      if (headers.length > longest.headers)
        throw refusal(`A part of the form has more than ${longest.headers} bytes of headers.`);
      this.#headers = headers;
      return bytes.length;
    }
    this.#headers = Buffer.from(newLine);
    this.#place = 'content';
    const { name, fileName } = dispositionOf(headers.toString('utf8', 0, end));
    this.#reader.part(name, fileName);
    return at + end + 2 * newLine.length - before;
  }

  /** Some clients leave the last line break away. */
  #readEpilogue(bytes: Buffer, at: number): number {
    this.#line += bytes.toString('latin1', at, at + newLine.length + 1);
    if (!newLine.startsWith(this.#line)) throw refusal('The form goes on behind its closing boundary.');
    return bytes.length;
  }
}

/** What the headers of a part call it (RFC 7578, 4.2). */
function dispositionOf(headers: string): { name?: string | undefined; fileName?: string | undefined } {
  const [, parameters = ''] = /\r\ncontent-disposition:[ \t]*form-data((?:;[^\r\n]*)?)(?:\r\n|$)/i.exec(headers) ?? [];
  const found = new Map<string, string>();
  for (const [, key = '', quoted, bare = ''] of parameters.matchAll(
    /;[ \t]*([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^;" \t]*))/g,
  )) {
    found.set(key.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? bare);
  }
  return { name: found.get('name'), fileName: found.get('filename') ?? found.get('filename*') };
}

const refusal = (sentence: string): Refusal => new Refusal('api-error', sentence);
