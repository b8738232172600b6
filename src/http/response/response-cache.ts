// Caches whole responses. A gateway asks the same question for every device of a fleet. If the response depends on the caller, the body and
// the records only (`repeatable`), it is sent again until one of them changes. The token, its permissions and the form of the request are
// checked every time.
import type { Principal } from '#domain/tokens/principal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { OutgoingResponse } from './outgoing-response.ts';

export interface RepeatableResponseKey {
  /** Another object after any change of the account or its token. */
  principal: Principal;
  /** Another object after any change of the records that the operation reads. */
  generation: object;
  /** The bytes of the request body. */
  bytes: Buffer;
}

/** Returns the cached response to a question, or makes it. */
export type RepeatableResponseCache = (
  question: RepeatableResponseKey,
  make: () => MaybePromise<OutgoingResponse>,
) => MaybePromise<OutgoingResponse>;

/** Maximum characters of cached questions and responses; above it the whole cache is dropped, as in a new cache generation. */
const maxCacheLength = 16 * 1024 * 1024;
/** Maximum bytes of a question that is cached. */
const longest = 8 * 1024;
/** How many hashes of earlier questions are kept. */
const marks = 16_384;

export function createRepeatableResponseCache(): RepeatableResponseCache {
  let of: object | undefined;
  let answers = new WeakMap<Principal, Map<string, OutgoingResponse>>();
  let size = 0;
  // A question that comes once is neither looked up nor cached: if no question repeats, caching would cost a tenth of each call.
  const seen = new Uint32Array(marks);

  const keep = (principal: Principal, requestText: string, sent: OutgoingResponse): OutgoingResponse => {
    if (typeof sent.body !== 'string') return sent;
    size += requestText.length + sent.body.length;
    if (size > maxCacheLength) forget(of);
    const theirs = answers.get(principal) ?? new Map<string, OutgoingResponse>();
    answers.set(principal, theirs.set(requestText, sent));
    return sent;
  };

  function forget(generation: object | undefined): void {
    answers = new WeakMap();
    size = 0;
    of = generation;
  }

  return ({ principal, generation, bytes }, make) => {
    if (bytes.length > longest) return make();
    if (generation !== of) forget(generation);
    const mark = markOf(bytes);
    if (seen[mark % marks] !== mark) {
      seen[mark % marks] = mark;
      return make();
    }
    const requestText = bytes.toString('latin1');
    const cached = answers.get(principal)?.get(requestText);
    if (cached !== undefined) return cached;
    return whenReady(make(), (sent) => (generation === of ? keep(principal, requestText, sent) : sent));
  };
}

/** A 32-bit hash of at most 64 of the bytes (FNV-1a). The only effect of a collision is an unneeded cache entry. */
function markOf(bytes: Buffer): number {
  const step = Math.ceil(bytes.length / 64);
  let mark = 0x811c9dc5 ^ bytes.length;
  for (let at = 0; at < bytes.length; at += step) mark = Math.imul(mark ^ (bytes[at] as number), 0x01000193);
  return mark >>> 0;
}
