// Streams one file that is sent as a form (multipart/form-data, RFC 7578), without buffering it in memory. The stock clients send exactly
// one part, named `binary`. Small text fields are for the receiver, which ignores unknown ones; every other part is refused.
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import { isFullyReceived } from './body.ts';

export interface FormUpload<T> {
  /** The name of the part that contains the file. */
  field: string;
  /** Maximum bytes of the file. */
  limit: number;
  /** Milliseconds without progress until the upload is abandoned. A slow upload that makes progress is never cut off. */
  idle: number;
  /**
   * Receives the file; `expected` is its maximum size in bytes, if announced. The content ends only after the whole form has been received
   * and is valid, and throws otherwise: the receiver then drops the bytes so far. `fields` has the text fields before the file.
   */
  receive(
    content: AsyncIterable<Chunks>,
    expected: number | undefined,
    fields: ReadonlyMap<string, string>,
  ): Promise<T>;
}

/**
 * Receives the file of an upload. When this refuses, the receiver has already finished and dropped its bytes; if the sender is still
 * sending, the connection closes after the response.
 */
export async function receiveUpload<T>(
  request: IncomingMessage,
  response: ServerResponse,
  upload: FormUpload<T>,
): Promise<T> {
  try {
    const boundary = boundaryOf(request);
    const announced = announcedLength(request);
    if (announced !== undefined && announced > upload.limit + margin) throw tooLarge(upload.limit);
    return await new Form(request, boundary, announced, upload).receive();
  } catch (error) {
    closeAfterResponse(request, response);
    throw error;
  }
}

/** How much of a refused body is read and dropped after the response. Reading the rest of 4 GiB costs less than receiving it would. */
const maxDrain = { bytes: 4 * 1024 ** 3, milliseconds: 30_000 };

/**
 * Sends a response before the whole body has been read, and closes the connection so that the response still reaches the client. The stock
 * clients send the whole body before they read a response; over TLS they report an early close as a broken connection and never see the 413
 * or 507. So the server closes only its own direction after the response, and drops the incoming bytes for a limited time.
 */
export function closeAfterResponse(request: IncomingMessage, response: ServerResponse, atMost = maxDrain): void {
  if (isFullyReceived(request) || response.headersSent || !hasBody(request)) return;
  const { socket } = request;
  const close = (): void => void socket.destroy();
  // Close the connection after the response. Not by a header, which the code that writes the response could remove.
  response.shouldKeepAlive = false;
  // If nothing of a request has been read, Node itself drains it, however long it is.
  request.read(0);
  // Node calls this after the last response on a connection has been written to the socket.
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

/** Bytes that a form may have in addition to its file: boundaries, headers, small fields. */
const margin = 2 * 1024 * 1024;
/** Maximum bytes after the closing boundary: two dashes and an epilogue. */
const endLength = 1024;
/** Larger than one chunk of a body, so that the parser never waits: back pressure is applied at the request. */
const highWaterMark = 1024 * 1024;
const limits = { files: 1, fields: 16, fieldSize: 8 * 1024, parts: 17, headerPairs: 32, headerSize: 16 * 1024 };

/** A form that is being received. */
class Form<T> {
  readonly #request: IncomingMessage;
  readonly #upload: FormUpload<T>;
  readonly #announced: number | undefined;
  readonly #parser: BusboyInstance;
  readonly #boundary: string;
  readonly #clock: NodeJS.Timeout;
  readonly #file: ReceiveBuffer;
  readonly #fields = new Map<string, string>();
  /** Settles when the form is complete and valid, or at the first reason to refuse it. */
  readonly #form = Promise.withResolvers<void>();
  #settled = false;
  #received: Promise<T> | undefined;
  #parsed = false;
  #arrived = 0;
  #ofFile = 0;
  #closedAt: number | undefined;
  // The first boundary is at the very beginning of the body; for every other one the line break before is part of the boundary.
  #tail: Buffer = Buffer.from('\r\n');

  constructor(request: IncomingMessage, boundary: string, announced: number | undefined, upload: FormUpload<T>) {
    this.#request = request;
    this.#upload = upload;
    this.#announced = announced;
    this.#boundary = `\r\n--${boundary}`;
    this.#parser = formParser(boundary, upload.field, (sentence) => this.#refuse(sentence));
    this.#file = new ReceiveBuffer(request);
    this.#clock = setTimeout(() => this.#handleIdle(), upload.idle);
    // The content and `receive` each report a failure later; until then it must not count as an unhandled rejection.
    this.#form.promise.catch(() => undefined);
  }

  /** Returns the result for the file after the whole form has been received. */
  async receive(): Promise<T> {
    const [request, parser] = [this.#request, this.#parser];
    const onData = (chunk: Buffer): void => this.#countChunk(chunk);
    const onEnd = (): void => {
      parser.end();
      // The parser may finish at the closing boundary, before the sender ends the request.
      this.#conclude();
    };
    const onClose = (): void => {
      if (!request.complete) this.#refuse('The connection closed before the whole upload had arrived.');
    };
    parser.on('finish', () => {
      this.#parsed = true;
      this.#conclude();
    });
    parser.on('field', (name, value) => this.#fields.set(name, value));
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
      this.#file.fail(new Error('the receiver of the file has stopped'));
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
    this.#received = (async () => this.#upload.receive(this.#content(), this.#announced, new Map(this.#fields)))();
    this.#received.then(
      () => this.#fail(new Error('cannot finish an upload whose receiver left early')),
      (error: unknown) => this.#fail(error),
    );
  }

  /** The file; its end is held back until the whole form is known to be valid. */
  async *#content(): AsyncGenerator<Chunks> {
    yield* this.#file.content();
    await this.#form.promise;
  }

  #countChunk(chunk: Buffer): void {
    if (this.#settled) return;
    const length = this.#boundary.length + endLength;
    this.#clock.refresh();
    this.#lookForEnd(chunk);
    this.#arrived += chunk.length;
    const last = chunk.subarray(-length);
    this.#tail = last.length === length ? Buffer.from(last) : Buffer.concat([this.#tail, last]).subarray(-length);
    this.#parser.write(chunk);
    if (this.#arrived > this.#upload.limit + margin) this.#fail(tooLarge(this.#upload.limit));
    else if (this.#arrived - this.#ofFile > margin)
      this.#refuse('The form contains too much data in addition to its file.');
  }

  /** Records the position of the first closing boundary; the parser stops there. The boundary may be split across two chunks. */
  #lookForEnd(chunk: Buffer): void {
    if (this.#closedAt !== undefined) return;
    const closing = `${this.#boundary}--`;
    const before = this.#tail.subarray(1 - closing.length);
    const across = Buffer.concat([before, chunk.subarray(0, closing.length - 1)]).indexOf(closing, 0, 'latin1');
    const within = across < 0 ? chunk.indexOf(closing, 0, 'latin1') : across - before.length;
    if (across >= 0 || within >= 0) this.#closedAt = this.#arrived + within;
  }

  #handleIdle(): void {
    // A sender that we have paused, or that has sent everything, is not idle.
    if (this.#file.isFull || this.#request.complete) this.#clock.refresh();
    else this.#refuse(`The upload was idle for ${this.#upload.idle / 1000} seconds and was abandoned.`);
  }

  /** The form is valid when the sender and the parser agree about its end. */
  #conclude(): void {
    if (this.#settled || !this.#parsed || !this.#request.readableEnded) return;
    // After the closing boundary, blanks and an epilogue are ignored (RFC 2046, 5.1.1). An epilogue that is long or contains another
    // boundary is a file with a hidden end of the form.
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
      return this.#refuse('The form continues after its closing boundary.');
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

/** The parser of the form, with limits on every part except the file. */
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

/** The boundary (RFC 2046, 5.1.1). Accepts only the allowed characters, so that it can be passed on in quotes. */
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

/** The length of the form; undefined for chunked transfer encoding. */
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
