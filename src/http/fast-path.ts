// The fast path: a gateway asks the same question for every device of a fleet. A request that was answered before, for the same principal
// and the same records, is answered from the response cache, without a promise. That saves 3 µs of 38 µs of processor time, a twelfth of a
// repeated request, and costs 0.5 µs if no request repeats (`npm run bench -- permissions`).
import type { IncomingMessage, ServerResponse } from 'node:http';

import { readAuthorization } from '#access/header-tokens.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { beginExchange, concludeExchange, type Exchange } from './exchange.ts';
import { refuseWrongHost } from './malformed-requests.ts';
import type { Operation } from './operation.ts';
import { receivedBody } from './request/body.ts';
import { bodyLimit, refuseEncoding, refuseType } from './request/payload.ts';
import type { OutgoingResponse } from './response/outgoing-response.ts';
import { ResponseCache, type ResponseKey } from './response/response-cache.ts';
import { writeResponse } from './response/send-response.ts';
import type { ServerServices } from './services.ts';
import { isEnabled } from './switches.ts';

type TextResponse = OutgoingResponse & { body: string };

export interface CacheEntry {
  cached: OutgoingResponse | undefined;
  /** Caches the response, unless it is a stream. */
  keep: (outgoing: OutgoingResponse) => void;
}

/** Maximum bytes of the request body of a cached response. */
const maxBodyBytes = 8 * 1024;

/** The responses of repeatable operations. */
export class RepeatedResponses {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #responses = new ResponseCache<TextResponse>({
    maxBytes: 16 * 1024 * 1024,
    sizeOf: ({ body }) => body.length,
  });
  /** Hashes of earlier bodies. The response to a body that comes once is not cached: that would cost a tenth of each request. */
  readonly #marks = new Uint32Array(16_384);

  constructor(operations: readonly Operation[]) {
    this.#operations = new Map(operations.filter((op) => op.repeatable !== undefined).map((op) => [op.path, op]));
  }

  /** Whether an address has a repeatable operation. */
  has(url: string): boolean {
    return this.#operations.has(url);
  }

  /** Answers a request at once if its response is cached; false if `answer` must handle it. Only `answer` refuses. */
  answerAtOnce(request: IncomingMessage, response: ServerResponse, services: ServerServices): boolean {
    const cached = this.#find(request, services);
    if (cached === undefined) return false;
    const { operation, principal, outgoing } = cached;
    const exchange = beginExchange(request, response, services);
    exchange.operation = operation;
    exchange.principal = principal;
    services.authority.used(principal.sessionId);
    const aborted = writeResponse(exchange, outgoing, services);
    concludeExchange(exchange, { status: outgoing.status, aborted }, services);
    return true;
  }

  /** The response to a request for an admitted principal, and the operation; undefined if anything about the request is unusual. */
  #find(request: IncomingMessage, { authority, records, config }: ServerServices) {
    const { url = '', method, headers } = request;
    const op = this.#operations.get(url);
    if (op?.repeatable === undefined || op.method !== method || !isEnabled(op, config)) return undefined;
    try {
      const bytes = receivedBody(request, bodyLimit(op));
      if (bytes === undefined || bytes.length > maxBodyBytes || !this.#isMarked(bytes)) return undefined;
      const generation = available(records.cacheGenerations[op.repeatable]());
      if (generation === undefined || headers.authorization === undefined) return undefined;
      refuseWrongHost(request);
      refuseEncoding(request);
      refuseType(op, request, bytes);
      const principal = available(authority.authenticate(readAuthorization(request, headers.authorization)));
      if (principal === undefined) return undefined;
      const outgoing = this.#responses.in(generation).get(keyOf(op, bytes, principal));
      return outgoing && { operation: op.name, principal, outgoing };
    } catch {
      return undefined; // `answer` meets the same error
    }
  }

  /**
   * The cache entry for the response to an admitted request; undefined if the response is not cached, because its body comes for the first
   * time or is too large.
   */
  entryFor(
    op: Operation,
    { principal, request }: Exchange,
    { records }: ServerServices,
  ): MaybePromise<CacheEntry | undefined> {
    const bytes = receivedBody(request, bodyLimit(op));
    if (op.repeatable === undefined || principal === undefined || bytes === undefined || bytes.length > maxBodyBytes)
      return undefined;
    refuseEncoding(request);
    refuseType(op, request, bytes);
    if (this.#mark(bytes)) return undefined;
    // Read before the records, so that a commit in between starts another generation.
    return whenReady(records.cacheGenerations[op.repeatable](), (generation) => {
      const responses = this.#responses.in(generation);
      const key = keyOf(op, bytes, principal);
      return {
        cached: responses.get(key),
        keep: (outgoing) => {
          if (typeof outgoing.body === 'string') responses.set(key, outgoing as TextResponse);
        },
      };
    });
  }

  /** Whether a body came before. */
  #isMarked(bytes: Buffer): boolean {
    const mark = markOf(bytes);
    return this.#marks[mark % this.#marks.length] === mark;
  }

  /** Marks a body; false if it came before. */
  #mark(bytes: Buffer): boolean {
    const mark = markOf(bytes);
    const place = mark % this.#marks.length;
    const isNew = this.#marks[place] !== mark;
    if (isNew) this.#marks[place] = mark;
    return isNew;
  }
}

const keyOf = (op: Operation, bytes: Buffer, principal: object): ResponseKey => [
  op.name,
  principal,
  bytes.toString('latin1'),
];

/** The value if it is there; a promise is left to `answer`, which asks again. */
function available<Value>(value: MaybePromise<Value>): Value | undefined {
  if (!(value instanceof Promise)) return value;
  value.catch(() => undefined);
  return undefined;
}

/** A 32-bit hash of at most 64 of the bytes (FNV-1a). The only effect of a collision is an unneeded cache entry. */
function markOf(bytes: Buffer): number {
  const step = Math.ceil(bytes.length / 64);
  let mark = 0x811c9dc5 ^ bytes.length;
  for (let at = 0; at < bytes.length; at += step) mark = Math.imul(mark ^ (bytes[at] as number), 0x01000193);
  return mark >>> 0;
}
