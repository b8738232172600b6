// Reads the body of a request within a maximum size and time.
import type { IncomingMessage } from 'node:http';

import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

/** Timeout of a JSON body; uploads have their own rule. */
const bodyTimeoutMs = seconds(60);

/** Returns the body as UTF-8 text. Refuses a body that is over the limit, too slow, or not UTF-8. */
export const readBody = async (request: IncomingMessage, limit: number): Promise<string> =>
  decode(await readBytes(request, limit));

/** Returns the bytes of the body. Refuses a body that is over the limit or too slow. */
export const readBytes = async (request: IncomingMessage, limit: number): Promise<Buffer> =>
  receivedBody(request, limit) ?? arriving(request, limit);

/**
 * The bytes of a body that arrived together with its headers, as in most calls; undefined if some are missing. They stay with the request,
 * so that the fast path may read them first.
 */
export function receivedBody(request: PossiblyReceived, limit: number): Buffer | undefined {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) throw tooLarge(limit);
  // If the client disconnected during the token check, no further events arrive.
  if (request.destroyed && !request.complete) throw cutOff();
  if (request[received] === undefined && announced > 0 && request.readableLength === announced)
    request[received] = request.read() as Buffer;
  return request[received];
}

const received = Symbol('received body');
type PossiblyReceived = IncomingMessage & { [received]?: Buffer };

/** Whether the whole request has been received; its bytes may all be there before the parser reports the end. */
export const isFullyReceived = (request: PossiblyReceived): boolean =>
  request.complete || request[received] !== undefined;

function arriving(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => {
    reject(new Refusal('api-error', 'The body did not arrive within a minute.'));
  }, bodyTimeoutMs);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) reject(tooLarge(limit));
    else chunks.push(chunk);
  });
  request.on('end', () => {
    resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
  request.on('close', () => {
    if (!request.complete) reject(cutOff());
  });
  return promise.finally(() => {
    clearTimeout(timer);
  });
}

/** Keeps a byte order mark in the text: no JSON text begins with one. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8, or refuses. */
export function decode(bytes: Buffer): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw new Refusal('api-error', 'The body is not UTF-8 text.');
  }
}

const cutOff = (): Refusal => new Refusal('api-error', 'The connection ended before the body did.');

const tooLarge = (limit: number): Refusal =>
  new Refusal('request-too-large', `The body is larger than the ${limit} bytes that this operation accepts.`);
