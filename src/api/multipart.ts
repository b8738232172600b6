// One file sent as a form (multipart/form-data, RFC 7578), passed on while it arrives: nothing is gathered in memory.
// The stock clients send exactly one part, named `binary`. Small text fields beside it are ignored, as unknown query
// members are; anything else in the form is refused.
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '#domain/refusal.ts';

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
  receive(content: AsyncIterable<Uint8Array>, expected: number | undefined): Promise<T>;
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
    return await receiveForm(request, boundary, announced, upload);
  } catch (error) {
    if (!request.complete) hangUpAfterAnswer(request, response);
    throw error;
  }
}

/** What a form may carry besides its file: boundaries, headers, small fields; and what the stages below may hold. */
const margin = 2 * 1024 * 1024;
/** How much each stage between the socket and the receiver holds before it makes the sender wait. */
const highWaterMark = 256 * 1024;
const limits = { files: 1, fields: 16, fieldSize: 8 * 1024, parts: 17, headerPairs: 32, headerSize: 16 * 1024 };

async function receiveForm<T>(
  request: IncomingMessage,
  boundary: string,
  announced: number | undefined,
  upload: Upload<T>,
): Promise<T> {
  const form = Promise.withResolvers<void>();
  // The content and this function each hear of a failure in their own time; before that it must not count as unhandled.
  form.promise.catch(() => undefined);
  let file: BusboyFileStream | undefined;
  let received: Promise<T> | undefined;
  let parsed = false;
  let over = false;
  let arrived = 0;
  let tail: Buffer = Buffer.alloc(0);

  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    highWaterMark,
    fileHwm: highWaterMark,
    limits,
    isPartAFile: (name, _type, fileName) => name === upload.field || fileName !== undefined,
  });
  parser.on('file', (name, stream) => {
    stream.on('error', () => undefined);
    if (name !== upload.field) return refuse(`The form has a file that is not named '${upload.field}'.`);
    file = stream;
    received = upload.receive(contentOf(stream, form.promise), announced);
    received.then(() => fail(new Error('cannot receive an upload whose receiver leaves early')), fail);
  });
  parser.on('field', (_name, _value, _nameTruncated, truncated) => {
    if (truncated) refuse(`A text field of the form has more than ${limits.fieldSize} bytes.`);
  });
  parser.on('filesLimit', () => refuse('The form has more than one file.'));
  parser.on('fieldsLimit', () => refuse(`The form has more than ${limits.fields} text fields.`));
  parser.on('partsLimit', () => refuse(`The form has more than ${limits.parts} parts.`));
  parser.on('error', () => refuse('The form is cut off: its closing boundary is missing.'));
  parser.on('drain', () => clock.refresh());
  parser.on('finish', () => {
    parsed = true;
    conclude();
  });

  const clock = setTimeout(() => {
    // While our own side makes the sender wait, he is not the one who stands still.
    if (parser.writableNeedDrain) clock.refresh();
    else refuse(`The upload stood still for ${upload.idle / 1000} seconds and was given up.`);
  }, upload.idle);

  function onData(chunk: Buffer): void {
    clock.refresh();
    arrived += chunk.length;
    tail = Buffer.concat([tail, chunk.subarray(-closing(boundary).length)]).subarray(-closing(boundary).length);
    if (arrived > upload.limit + margin) fail(tooLarge(upload.limit));
    else if (arrived - (file?.bytesRead ?? 0) > margin) refuse('The form carries too much besides its file.');
  }

  function onClose(): void {
    if (!request.complete) refuse('The connection closed before the whole upload had arrived.');
  }

  /** The form is in order when it has ended for the parser and for the sender, and at its closing boundary. */
  function conclude(): void {
    if (over || !parsed || !request.readableEnded) return;
    if (!closing(boundary).endsWith(tail.toString('latin1').trimEnd() + '\r\n')) return refuse('x');
    if (file === undefined) return refuse(`The form has no file named '${upload.field}'.`);
    over = true;
    form.resolve();
  }

  function refuse(sentence: string): void {
    fail(new Refusal('api-error', sentence));
  }

  function fail(error: unknown): void {
    if (over) return;
    over = true;
    request.unpipe(parser);
    request.pause();
    form.reject(error);
    file?.destroy();
  }

  request.on('data', onData).on('end', conclude).on('error', onClose).on('close', onClose);
  request.pipe(parser);
  try {
    await form.promise;
    return await (received as unknown as Promise<T>);
  } finally {
    clearTimeout(clock);
    request.off('data', onData).off('end', conclude).off('close', onClose);
    await Promise.allSettled([received]);
  }
}

async function* contentOf(file: BusboyFileStream, form: Promise<void>): AsyncGenerator<Uint8Array> {
  yield* file;
  await form;
}
function closing(b: string) { return `\r\n--${b}--\r\n`; }
function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}
function boundaryOf(r: IncomingMessage) { return /boundary="?([^"]+)"?/.exec(r.headers['content-type'] ?? '')![1]!; }
function announcedLength(r: IncomingMessage) { return Number(r.headers['content-length']) || undefined; }
export function hangUpAfterAnswer(_request: IncomingMessage, response: ServerResponse) { response.setHeader('connection', 'close'); }
