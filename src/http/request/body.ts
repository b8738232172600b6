// Reads the body of a request within a maximum size and time.
import type { IncomingMessage } from 'node:http';

import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';

/** Timeout of a JSON body; uploads have their own rule. */
const bodyTimeoutMs = seconds(60);

/** Returns the body as UTF-8 text. Refuses a body that is over the limit, too slow, or not UTF-8. */
export const readBody = (request: IncomingMessage, limit: number): MaybePromise<string> =>
  whenReady(readBytes(request, limit), decode);

/** Returns the bytes of the body. Refuses a body that is over the limit or too slow. */
export function readBytes(request: IncomingMessage, limit: number): MaybePromise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) throw tooLarge(limit);
  // If the client disconnected during the token check, no further events arrive.
  if (request.destroyed && !request.complete) throw cutOff();
  return atHand(request, announced) ?? arriving(request, limit);
}

/**
 * Marks a request after all its bytes were read, before the parser reports the end. A WeakSet of all requests would cost the garbage
 * collector 0.2 µs.
 */
const whole = Symbol('all of it was read');
type Marked = IncomingMessage & { [whole]?: true };

/** Whether the whole request has been received. */
export const isFullyReceived = (request: Marked): boolean => request.complete || request[whole] === true;

/** Returns the body if it was received together with the headers, as in most calls. */
function atHand(request: Marked, announced: number): Buffer | undefined {
  if (announced === 0 || request.readableLength !== announced) return undefined;
  const bytes = request.read() as Buffer;
  if (!request.complete) request[whole] = true;
  return bytes;
}

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
