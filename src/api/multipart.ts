// One file sent as a form (multipart/form-data, RFC 7578), passed on while it arrives: nothing is gathered in memory.
// The stock clients send exactly one part, named `binary`. Small text fields beside it are ignored, as unknown query
// members are; anything else in the form is refused.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { Arriving } from './arriving.ts';
import { hasArrived } from './body.ts';
import { cutOff, FormParser, type FormReader } from './form-parser.ts';

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
const limits = { parts: 17, fieldSize: 8 * 1024 };

/** A form as it arrives. */
class Form<T> implements FormReader {
  readonly #request: IncomingMessage;
  readonly #upload: Upload<T>;
  readonly #announced: number | undefined;
  readonly #parser: FormParser;
  readonly #clock: NodeJS.Timeout;
  readonly #file: Arriving;
  /** Settles when the form has arrived and is in order, or at the first reason to refuse it. */
  readonly #form = Promise.withResolvers<void>();
  #settled = false;
  #received: Promise<T> | undefined;
  #parts = 0;
  /** How much came of the text field that is under way; of the file it is not counted here. */
  #field: number | undefined;
  #arrived = 0;
  #ofFile = 0;

  constructor(request: IncomingMessage, boundary: string, announced: number | undefined, upload: Upload<T>) {
    this.#request = request;
    this.#upload = upload;
    this.#announced = announced;
    this.#parser = new FormParser(boundary, this);
    this.#file = new Arriving(request);
    this.#clock = setTimeout(() => this.#stoodStill(), upload.idle);
    // The content and `receive` each hear of a failure in their own time; before that it must not count as unhandled.
    this.#form.promise.catch(() => undefined);
  }

  /** What was made of the file, once the whole form has arrived. */
  async receive(): Promise<T> {
    const request = this.#request;
    const onData = (chunk: Buffer): void => this.#took(chunk);
    const onEnd = (): void => this.#conclude();
    const onClose = (): void => {
      if (!request.complete) this.#refuse('The connection closed before the whole upload had arrived.');
    };
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

  part(name: string | undefined, fileName: string | undefined): void {
    const { field } = this.#upload;
    const isFile = name === field || fileName !== undefined;
    this.#field = isFile ? undefined : 0;
    this.#parts += 1;
    if (this.#parts > limits.parts) throw refusal(`The form has more than ${limits.parts} parts.`);
    if (!isFile) return;
    if (this.#received !== undefined) throw refusal('The form has more than one file.');
    if (name !== field) throw refusal(`The form has a file that is not named '${field}'.`);
    this.#received = (async () => this.#upload.receive(this.#content(), this.#announced))();
    this.#received.then(
      () => this.#fail(new Error('cannot finish an upload whose receiver left early')),
      (error: unknown) => this.#fail(error),
    );
  }

  content(bytes: Buffer): void {
    if (this.#field === undefined) {
      this.#ofFile += bytes.length;
      this.#file.push(bytes);
    } else {
      this.#field += bytes.length;
      if (this.#field > limits.fieldSize)
        throw refusal(`A text field of the form has more than ${limits.fieldSize} bytes.`);
    }
  }

  end(): void {
    if (this.#field === undefined) this.#file.end();
  }

  /** The file; its end is held back until the form around it is known to be in order. */
  async *#content(): AsyncGenerator<Chunks> {
    yield* this.#file.content();
    await this.#form.promise;
  }

  #took(chunk: Buffer): void {
    if (this.#settled) return;
    this.#clock.refresh();
    this.#arrived += chunk.length;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#arrived > this.#upload.limit + margin) this.#fail(tooLarge(this.#upload.limit));
    else if (this.#arrived - this.#ofFile > margin) this.#refuse('The form carries too much besides its file.');
  }

  #stoodStill(): void {
    // A sender whom our own side makes wait, or who has sent everything, is not the one who stands still.
    if (this.#file.isFull || this.#request.complete) this.#clock.refresh();
    else this.#refuse(`The upload stood still for ${this.#upload.idle / 1000} seconds and was given up.`);
  }

  /** The form is in order when the sender and the parser agree that it has ended. */
  #conclude(): void {
    if (this.#settled) return;
    if (!this.#parser.isWhole) return this.#refuse(cutOff);
    if (this.#received === undefined) return this.#refuse(`The form has no file named '${this.#upload.field}'.`);
    this.#settled = true;
    this.#form.resolve();
  }

  #refuse(sentence: string): void {
    this.#fail(refusal(sentence));
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#form.reject(error);
    this.#request.pause();
    this.#file.fail(error);
  }
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

const refusal = (sentence: string): Refusal => new Refusal('api-error', sentence);

function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}
