// Reads a request's body within a size and a time.
import type { IncomingMessage } from 'node:http';

import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { then, type Soon } from '#domain/soon.ts';

/** A JSON body that has not arrived by then is given up; uploads have a rule of their own. */
const patience = seconds(60);

/** The body as UTF-8 text, or a refusal when it is longer than the limit, too slow, or no UTF-8. */
export const readBody = (request: IncomingMessage, limit: number): Soon<string> =>
  then(readBytes(request, limit), decode);

/** The body as it came, or a refusal when it is longer than the limit, or too slow. */
export function readBytes(request: IncomingMessage, limit: number): Soon<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) throw tooLarge(limit);
  // Whoever went away while his token was looked at sends no more events.
  if (request.destroyed && !request.complete) throw cutOff();
  return atHand(request, announced) ?? arriving(request, limit);
}

/** Marks a request of which all bytes were read before the parser had said so. A WeakSet of all requests would cost the garbage collector 0.2 µs. */
const whole = Symbol('all of it was read');
type Marked = IncomingMessage & { [whole]?: true };

/** Whether nothing of a request is still to come. */
export const hasArrived = (request: Marked): boolean => request.complete || request[whole] === true;

/** The body, when all of it came with its headers, as that of most calls does. */
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
  }, patience);
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

/** A byte order mark is not swallowed: no JSON text begins with one. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text that bytes are in UTF-8, or a refusal. */
export function decode(bytes: Buffer): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw new Refusal('api-error', 'The body is not UTF-8 text.');
  }
}

const cutOff = (): Refusal => new Refusal('api-error', 'The connection ended before the body did.');

const tooLarge = (limit: number): Refusal =>
  new Refusal('request-too-large', `The body is larger than the ${limit} bytes that this operation takes.`);
