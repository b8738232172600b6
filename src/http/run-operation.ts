// The whole life of a call: authenticate, admit, validate, act, respond.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { decode, readBytes } from './request/body.ts';
import { requireBrowserSession } from './request/browser-sessions.ts';
import { readPresentedTokens, type PresentedTokens } from '#access/presented-tokens.ts';
import { readJson } from '#contract/json.ts';
import { checkTokenScope } from '#access/token-scope.ts';
import { OperationResponse, type Operation, type RefusedRequest } from './operation.ts';
import type { RepeatableResponseCache } from './response/response-cache.ts';
import { checkShape } from '#contract/schema.ts';
import { json, type OutgoingResponse } from './response/outgoing-response.ts';
import type { ServerServices } from './services.ts';
import type { Wire } from '#contract/wire.ts';

/** A request after its operation has been found. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  params: Record<string, string>;
  /** The members of the query; a repeated member has been refused. */
  query: Record<string, string>;
  address: string;
  requestId: string;
  /** Set while the call runs, for the log; `refused` is set if a page reports the refusal. */
  principal?: Principal;
  refused?: Refusal;
  /** Reads the content of the body for the page that reports a refusal; reads once. */
  typed?: () => MaybePromise<unknown>;
}

/** How the server responds, in addition to its services. */
export interface ResponseOptions {
  /** Whether every response is validated against its shape. */
  checkAnswers: boolean;
  /** The response cache of a repeatable operation. */
  repeats?: RepeatableResponseCache | undefined;
}

/** Runs one call of an operation. Throws a `Refusal`, or another error if the fault is on our side. */
export function runOperation(
  op: Operation,
  exchange: Exchange,
  services: ServerServices,
  options: ResponseOptions,
): MaybePromise<OutgoingResponse> {
  const payload = createPayload(op, exchange.request);
  if (op.refused !== undefined) exchange.typed = payload.content;
  return whenReady(admit(op, exchange, services, payload), (evidence) => {
    const { principal, query } = exchange;
    if (principal !== undefined) checkTokenScope(op, principal, evidence);
    if (op.query !== undefined) checkShape(op.query, query);
    const perform = (content?: unknown): MaybePromise<OutgoingResponse> => {
      if (op.body !== undefined && !(op.bodyOptional === true && content === undefined)) checkShape(op.body, content);
      const result = op.handle(callOf(services, evidence, exchange, content));
      return whenReady(result, (value) => present(op, value, options));
    };
    if (op.body === undefined) return perform();
    const readAndPerform = () => whenReady(payload.content(), perform);
    const { repeats } = options;
    if (repeats === undefined || op.repeatable === undefined || principal === undefined) return readAndPerform();
    return whenReady(services.records.cacheGenerations[op.repeatable](), (generation) =>
      whenReady(payload.bytes(), (bytes) => {
        refuseType(op, exchange.request, bytes);
        return repeats({ principal, generation, bytes }, readAndPerform);
      }),
    );
  });
}

/** The body of a request. Each form of it is read once, when it is first needed. */
interface Payload {
  bytes(): MaybePromise<Buffer>;
  /** The parsed body. */
  content(): MaybePromise<unknown>;
}

function createPayload(op: Operation, request: IncomingMessage): Payload {
  let read: MaybePromise<Buffer> | undefined;
  let parsed: MaybePromise<unknown>;
  const bytes = (): MaybePromise<Buffer> => (read ??= readPayload(op, request));
  return { bytes, content: () => (parsed ??= whenReady(bytes(), (buffer) => parse(op, request, buffer))) };
}

/** Asks the access rule of the operation. Returns its evidence; the principal is noted in the exchange. */
function admit(op: Operation, exchange: Exchange, services: ServerServices, payload: Payload): MaybePromise<object> {
  const { request, params, query } = exchange;
  const { authority, records, registry, deviceSessions, config, now } = services;
  const tokens = (): MaybePromise<PresentedTokens> =>
    readPresentedTokens(request, op.access.inPayload === true || params['namespace'] === 'charm', payload.content);
  const noteUse = (principal: Principal): void => {
    exchange.principal = principal;
    authority.used(principal.sessionId);
  };
  let inPayload = false;
  return op.access.admit({
    params,
    query,
    request,
    records,
    registry,
    deviceSessions,
    config,
    now,
    authenticate: () =>
      whenReady(tokens(), (presented) => {
        inPayload = presented.inPayload;
        return whenReady(authority.authenticate(presented.tokens), (principal) => {
          noteUse(principal);
          return principal;
        });
      }),
    browse: async () => {
      const session = await requireBrowserSession(exchange, services);
      noteUse(session.principal);
      return session;
    },
    login: async () => authority.login((await tokens()).tokens),
    presentsToken: async () => (await tokens()).tokens.length > 0,
    inPayload: () => inPayload,
  });
}

/** Like `runOperation`, for an operation that people use in a browser: shows refusals as a page. */
export async function runOperationWithPages(
  op: Operation,
  exchange: Exchange,
  services: ServerServices,
  options: ResponseOptions,
): Promise<OutgoingResponse> {
  try {
    return await runOperation(op, exchange, services, options);
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || op.refused === undefined) throw refusal;
    exchange.refused = refusal;
    const read = async (): Promise<unknown> => exchange.typed?.();
    const typed = op.body === undefined ? undefined : await read().catch(() => undefined);
    const refusedRequest = Object.assign(Object.create(services) as object, exchange, {
      typed,
    }) as unknown as RefusedRequest;
    return present(op, await op.refused(refusal, refusedRequest), options);
  }
}

/**
 * Builds the argument of a handler. It inherits the services: copying that many members takes 20 µs, assigning the few others takes 1 µs.
 */
const callOf = (services: ServerServices, evidence: object, exchange: Exchange, body: unknown): never =>
  Object.assign(Object.create(services) as object, evidence, exchange, { body }) as never;

/** Turns the result of a handler into a response. */
function present(op: Operation, result: unknown, { checkAnswers }: ResponseOptions): OutgoingResponse {
  if (result instanceof OperationResponse) {
    return { status: result.status ?? op.status ?? 200, headers: result.headers, body: result.body };
  }
  if (checkAnswers && op.response !== undefined) checkAnswer(op, result);
  if (result === undefined) return { status: op.status ?? 204, headers: {}, body: undefined };
  return { status: op.status ?? 200, headers: json, body: JSON.stringify(result) };
}

const form = 'application/x-www-form-urlencoded';

function readPayload(op: Operation, request: IncomingMessage): MaybePromise<Buffer> {
  if ((request.headers['content-encoding'] ?? 'identity') === 'identity')
    return readBytes(request, op.bodyLimit ?? 1024 * 1024);
  throw new Refusal('unsupported-media-type', 'This operation takes its body without a content encoding.');
}

/** Parses a body; undefined if it is empty and may be empty. */
function parse(op: Operation, request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) {
    if (op.bodyOptional === true || op.body === undefined) return undefined;
    const taken = op.consumes === form ? 'form' : 'JSON document';
    throw new Refusal('api-error', `The request has no body; this operation takes a ${taken}.`);
  }
  const text = decode(bytes);
  refuseType(op, request, bytes);
  return op.consumes === form ? parseMembers(text, 'The form') : readJson(text);
}

/** Refuses a body if the operation does not accept its Content-Type. */
function refuseType({ consumes }: Operation, { headers }: IncomingMessage, { length }: Buffer): void {
  const taken = consumes === form ? form : 'application/json';
  const { 'content-type': type = taken } = headers;
  if (length === 0 || type === taken || type.split(';', 1)[0]?.trim().toLowerCase() === taken) return;
  throw new Refusal('unsupported-media-type', `This operation takes ${taken}, not '${type.slice(0, 100)}'.`);
}

const noMembers = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * The members of a query or a form. A member that is given twice is refused, because two readers could pick different values. The values of
 * a member that may be repeated are joined with spaces.
 */
export function parseMembers(text: string, sourceName: string, repeated: string[] = []): Record<string, string> {
  if (text === '') return noMembers;
  const parsed: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in parsed && repeated.includes(name)) {
      parsed[name] = `${parsed[name] ?? ''} ${value}`;
      continue;
    }
    if (name in parsed) throw new Refusal('api-error', `${sourceName} names '${name.slice(0, 100)}' twice.`);
    parsed[name] = value;
  }
  return parsed;
}

/** In development and tests, a response that breaks its own shape is our error and throws. */
function checkAnswer(op: Operation, result: unknown): void {
  try {
    checkShape(op.response as keyof Wire, result);
  } catch (error) {
    throw new Error(`cannot answer ${op.name}: ${(error as Error).message}`, { cause: error });
  }
}
