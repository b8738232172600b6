// One file sent as a form (multipart/form-data, RFC 7578), passed on while it arrives: nothing is gathered in memory.
// The stock clients send exactly one part, named `binary`. Small text fields beside it are ignored, as unknown query
// members are; anything else in the form is refused.
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { Arriving } from './arriving.ts';
import { hasArrived } from './body.ts';

export interface Upload<T> {
  /** The name of the part that holds the file. */
  field: string;
  /** How many bytes the file may have. */
  limit: number;
  /** Milliseconds an upload may stand still. One that moves, however slowly, is never cut off. */
  idle: number;
  /**
   * Takes the file in; `expected` is how many bytes it has at most, where that was announced. The content ends only
   * when the whole form has arrived and is in order, and throws otherwise: what was taken in until then is to be dropped.
   */
  receive(content: AsyncIterable<Chunks>, expected: number | undefined): Promise<T>;
}

/**
 * Receives the file of an upload. When this refuses, the receiver has come to its end before, having dropped what it
 * had; and where the sender is still sending, the connection closes after the answer.
 */
export async function receiveUpload<T>(
  request: IncomingMessage,
  response: ServerResponse,
  upload: Upload<T>,
): Promise<T> {
  try {
    const boundary = boundaryOf(request);
    const announced = announcedLength(request);
    if (announced !== undefined && announced > upload.limit + margin) throw tooLarge(upload.limit);
    return await new Form(request, boundary, announced, upload).receive();
  } catch (error) {
    hangUpAfterAnswer(request, response);
    throw error;
  }
}

/** How much of a body nobody wants is read after the answer. The rest of 4 GiB costs less than taking them in would. */
const lingering = { bytes: 4 * 1024 ** 3, milliseconds: 30_000 };

/**
 * Lets a request be answered whose body nobody wants to read on, and closes the connection in a way that the answer
 * arrives. The stock clients send the whole body before they look for an answer, and over TLS they report a connection
 * closed on the way as broken and never see the 413 or 507. So after the answer we close our direction only, and let
 * the sender come to his end, for a while.
 */
export function hangUpAfterAnswer(request: IncomingMessage, response: ServerResponse, atMost = lingering): void {
  if (hasArrived(request) || response.headersSent || !hasBody(request)) return;
  const { socket } = request;
  const close = (): void => void socket.destroy();
  // Not a header set here, which whoever writes the answer might take away again.
  response.shouldKeepAlive = false;
  // Node would itself drain a request that nobody began to read, however long it is.
  request.read(0);
  // Node calls this when the last answer on a connection has been handed to the socket.
  socket.destroySoon = () => {
    let left = atMost.bytes;
    const clock = setTimeout(close, atMost.milliseconds);
    socket.once('close', () => clearTimeout(clock));
    request.once('end', close).once('error', close);
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) close();
    });
    socket.end();
    request.resume();
  };
}

/** What a form may carry besides its file: boundaries, headers, small fields. */
const margin = 2 * 1024 * 1024;
/** How much may stand behind the closing boundary: two dashes, and an epilogue. */
const endLength = 1024;
/** More than one piece of a body has, so that the parser never waits: who is too fast is held up at the request itself. */
const highWaterMark = 1024 * 1024;
const limits = { files: 1, fields: 16, fieldSize: 8 * 1024, parts: 17, headerPairs: 32, headerSize: 16 * 1024 };

/** A form as it arrives. */
class Form<T> {
  readonly #request: IncomingMessage;
  readonly #upload: Upload<T>;
  readonly #announced: number | undefined;
  readonly #parser: BusboyInstance;
  readonly #boundary: string;
  readonly #clock: NodeJS.Timeout;
  readonly #file: Arriving;
  /** Settles when the form has arrived and is in order, or at the first reason to refuse it. */
  readonly #form = Promise.withResolvers<void>();
  #settled = false;
  #received: Promise<T> | undefined;
  #parsed = false;
  #arrived = 0;
  #ofFile = 0;
  #closedAt: number | undefined;
  // The first boundary of a body stands at its very beginning; for all others a line break is part of the boundary.
  #tail: Buffer = Buffer.from('\r\n');

  constructor(request: IncomingMessage, boundary: string, announced: number | undefined, upload: Upload<T>) {
    this.#request = request;
    this.#upload = upload;
    this.#announced = announced;
    this.#boundary = `\r\n--${boundary}`;
    this.#parser = formParser(boundary, upload.field, (sentence) => this.#refuse(sentence));
    this.#file = new Arriving(request);
    this.#clock = setTimeout(() => this.#stoodStill(), upload.idle);
    // The content and `receive` each hear of a failure in their own time; before that it must not count as unhandled.
    this.#form.promise.catch(() => undefined);
  }

  /** What was made of the file, once the whole form has arrived. */
  async receive(): Promise<T> {
    const [request, parser] = [this.#request, this.#parser];
    const onData = (chunk: Buffer): void => this.#took(chunk);
    const onEnd = (): void => {
      parser.end();
      // It may have finished with the closing boundary, before the sender did.
      this.#conclude();
    };
    const onClose = (): void => {
      if (!request.complete) this.#refuse('The connection closed before the whole upload had arrived.');
    };
    parser.on('finish', () => {
      this.#parsed = true;
      this.#conclude();
    });
    parser.on('file', (name, stream) => this.#begin(name, stream));
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
    if (request.destroyed) onClose();
    try {
      await this.#form.promise;
      return await (this.#received as Promise<T>);
    } finally {
      clearTimeout(this.#clock);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      await Promise.allSettled([this.#received]);
      this.#file.fail(new Error('nobody takes the file any more'));
    }
  }

  #begin(name: string, stream: BusboyFileStream): void {
    stream.on('error', () => undefined);
    if (this.#settled) return;
    if (name !== this.#upload.field) {
      return this.#refuse(`The form has a file that is not named '${this.#upload.field}'.`);
    }
    stream.on('data', (bytes: Buffer) => {
      this.#ofFile += bytes.length;
      if (!this.#settled) this.#file.push(bytes);
    });
    stream.on('end', () => this.#file.end());
    this.#received = (async () => this.#upload.receive(this.#content(), this.#announced))();
    this.#received.then(
      () => this.#fail(new Error('cannot finish an upload whose receiver left early')),
      (error: unknown) => this.#fail(error),
    );
  }

  /** The file; its end is held back until the form around it is known to be in order. */
  async *#content(): AsyncGenerator<Chunks> {
    yield* this.#file.content();
    await this.#form.promise;
  }

  #took(chunk: Buffer): void {
    if (this.#settled) return;
    const length = this.#boundary.length + endLength;
    this.#clock.refresh();
    this.#lookForEnd(chunk);
    this.#arrived += chunk.length;
    const last = chunk.subarray(-length);
    this.#tail = last.length === length ? Buffer.from(last) : Buffer.concat([this.#tail, last]).subarray(-length);
    this.#parser.write(chunk);
    if (this.#arrived > this.#upload.limit + margin) this.#fail(tooLarge(this.#upload.limit));
    else if (this.#arrived - this.#ofFile > margin) this.#refuse('The form carries too much besides its file.');
  }

  /** Notes where the closing boundary stands first, which is where the parser stops; it may lie across two chunks. */
  #lookForEnd(chunk: Buffer): void {
    if (this.#closedAt !== undefined) return;
    const closing = `${this.#boundary}--`;
    const before = this.#tail.subarray(1 - closing.length);
    const across = Buffer.concat([before, chunk.subarray(0, closing.length - 1)]).indexOf(closing, 0, 'latin1');
    const within = across < 0 ? chunk.indexOf(closing, 0, 'latin1') : across - before.length;
    if (across >= 0 || within >= 0) this.#closedAt = this.#arrived + within;
  }

  #stoodStill(): void {
    // A sender whom our own side makes wait, or who has sent everything, is not the one who stands still.
    if (this.#file.isFull || this.#request.complete) this.#clock.refresh();
    else this.#refuse(`The upload stood still for ${this.#upload.idle / 1000} seconds and was given up.`);
  }

  /** The form is in order when the sender and the parser agree that it has ended, and where. */
  #conclude(): void {
    if (this.#settled || !this.#parsed || !this.#request.readableEnded) return;
    // Behind the closing boundary, blanks and an epilogue are ignored (RFC 2046 5.1.1). One that is long, or has another
    // boundary in it, is a file in which somebody has hidden the end of the form.
    const length = this.#closedAt === undefined ? 0 : this.#arrived - this.#closedAt;
    const behind = this.#tail
      .toString('latin1', Math.max(0, this.#tail.length - length))
      .slice(this.#boundary.length + 2);
    if (
      length === 0 ||
      length > this.#tail.length ||
      !/^[ \t]*(?:\r\n|$)/.test(behind) ||
      behind.includes(this.#boundary)
    ) {
      return this.#refuse('The form goes on behind its closing boundary.');
    }
    if (this.#received === undefined) return this.#refuse(`The form has no file named '${this.#upload.field}'.`);
    this.#settled = true;
    this.#form.resolve();
  }

  #refuse(sentence: string): void {
    this.#fail(new Refusal('api-error', sentence));
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#form.reject(error);
    this.#request.pause();
    this.#file.fail(error);
  }
}

/** The parser of the form, with the bounds on everything in it that is not the file. */
function formParser(boundary: string, field: string, refuse: (sentence: string) => void): BusboyInstance {
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    highWaterMark,
    fileHwm: highWaterMark,
    limits,
    isPartAFile: (name, _type, fileName) => name === field || fileName !== undefined,
  });
  parser.on('field', (_name, _value, _nameTruncated, truncated) => {
    if (truncated) refuse(`A text field of the form has more than ${limits.fieldSize} bytes.`);
  });
  parser.on('filesLimit', () => refuse('The form has more than one file.'));
  parser.on('fieldsLimit', () => refuse(`The form has more than ${limits.fields} text fields.`));
  parser.on('partsLimit', () => refuse(`The form has more than ${limits.parts} parts.`));
  parser.on('error', () => refuse('The form is cut off: its closing boundary is missing.'));
  return parser;
}

/** The boundary of RFC 2046, 5.1.1. Only what it allows, so that it can be handed on in quotes. */
export function boundaryOf(request: IncomingMessage): string {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'multipart/form-data' || !plain(request.headers['content-encoding'])) {
    throw new Refusal('unsupported-media-type', 'Send the file as multipart/form-data, without a content encoding.');
  }
  const values = parameters.flatMap((parameter) => /^\s*boundary=(.*)$/i.exec(parameter)?.[1]?.trim() ?? []);
  const [, quoted, bare] = /^(?:"([^"]*)"|([^"]*))$/.exec(values.length === 1 ? (values[0] ?? '') : '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)) {
    throw new Refusal('api-error', 'The Content-Type header must name one boundary of 1 to 70 permitted characters.');
  }
  return boundary;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function plain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === 'identity';
}

/** How long the form is; nothing when it comes in chunks, which say themselves where it ends. */
function announcedLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  if (length === undefined && headers['transfer-encoding'] === undefined) {
    throw new Refusal('length-required', 'Send the form with a Content-Length header, or in chunks.');
  }
  return length === undefined ? undefined : Number(length);
}

function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}
