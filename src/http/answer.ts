// The life of a request, from its first header to its line in the log. Two things come before: the limits of its connection
// (`connection-limits.ts`), and the fast path of repeated requests (`fast-path.ts`).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { Refusal } from '#domain/refusal.ts';
import { checkShape } from '#contract/schema.ts';
import type { Wire } from '#contract/wire.ts';
import { readPresentedTokens, type PresentedTokens } from '#access/presented-tokens.ts';
import { checkTokenScope } from '#access/token-scope.ts';
import { requireBrowserSession } from './request/browser-sessions.ts';
import { createContentReader, parseMembers } from './request/payload.ts';
import { json, type OutgoingResponse } from './response/outgoing-response.ts';
import { errorPage, isConsolePage, notFoundPage, prefersHtml } from './response/error-page.ts';
import { streamResponse, writeResponse } from './response/send-response.ts';
import { familyAt, toErrorResponse } from './error-responses.ts';
import { beginExchange, concludeExchange, type Exchange } from './exchange.ts';
import type { RepeatedResponses } from './fast-path.ts';
import { handlerCall, refusedRequest } from './handler-call.ts';
import { refuseMalformed } from './malformed-requests.ts';
import { OperationResponse, type Operation } from './operation.ts';
import { findOperation, type RouteTable } from './route-table.ts';
import type { ServerServices } from './services.ts';

/** The parts of the server that answer requests. */
export interface AnswerOptions {
  /** The present services; a reload changes their configuration. */
  services: () => ServerServices;
  routes: RouteTable;
  repeated: RepeatedResponses;
  /** Whether every response is validated against its shape. */
  checkAnswers: boolean;
}

/** Answers one request, with one configuration from beginning to end. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: AnswerOptions,
): Promise<void> {
  const services = options.services();
  const exchange = beginExchange(request, response, services);
  let outgoing: OutgoingResponse;
  try {
    refuseMalformed(request);
    const op = findOperation(exchange, options.routes, services.config);
    exchange.query = parseMembers(exchange.search, 'The query', op.repeated);
    const call = { exchange, content: createContentReader(op, request), services };
    outgoing = await (op.refused === undefined ? run(op, call, options) : runWithPages(op, call, options));
  } catch (error) {
    exchange.failure = error;
    outgoing = createErrorResponse(exchange, services);
  }
  const { status, headers, body } = outgoing;
  const aborted =
    body instanceof Readable
      ? await streamResponse(exchange, { status, headers, body }, services)
      : writeResponse(exchange, { status, headers, body }, services);
  concludeExchange(exchange, { status, aborted }, services);
}

interface RunningCall {
  exchange: Exchange;
  /** Reads the body. */
  content: () => MaybePromise<unknown>;
  services: ServerServices;
}

/**
 * Authenticates and authorizes the caller, validates the request, and handles it. Throws a `Refusal`, or another error if the fault is on our
 * side.
 */
async function run(op: Operation, call: RunningCall, options: AnswerOptions): Promise<OutgoingResponse> {
  const { exchange, content, services } = call;
  // Each result that is there already saves an `await`; together these are a tenth of a short request (`maybe-promise.ts`).
  const admitted = admit(op, call);
  const evidence = admitted instanceof Promise ? await admitted : admitted;
  const { principal, query } = exchange;
  if (principal !== undefined) checkTokenScope(op, principal, evidence);
  if (op.query !== undefined) checkShape(op.query, query);
  const lookup = op.repeatable && options.repeated.entryFor(op, exchange, services);
  const entry = lookup instanceof Promise ? await lookup : lookup;
  if (entry?.cached !== undefined) return entry.cached;

  const sent = op.body === undefined ? undefined : content();
  const body: unknown = sent instanceof Promise ? await sent : sent;
  if (op.body !== undefined && !(op.bodyOptional === true && body === undefined)) checkShape(op.body, body);
  const handled = op.handle(handlerCall(services, evidence, exchange, body));
  const outgoing = present(op, handled instanceof Promise ? await handled : handled, options);
  entry?.keep(outgoing);
  return outgoing;
}

/** Runs an operation that people use in a browser: shows refusals as a page. */
async function runWithPages(op: Operation, call: RunningCall, options: AnswerOptions): Promise<OutgoingResponse> {
  try {
    return await run(op, call, options);
  } catch (error) {
    if (!(error instanceof Refusal) || op.refused === undefined) throw error;
    const { exchange, content, services } = call;
    exchange.failure = error;
    const typed = op.body === undefined ? undefined : await readTyped(content);
    return present(op, await op.refused(error, refusedRequest(services, exchange, typed)), options);
  }
}

/** The content of a form, for the page that reports its refusal; undefined if it is unreadable. */
async function readTyped(content: () => MaybePromise<unknown>): Promise<unknown> {
  try {
    return await content();
  } catch {
    return undefined;
  }
}

/** Asks the access rule of the operation. Returns its evidence; the principal is noted in the exchange. */
function admit(op: Operation, { exchange, content, services }: RunningCall): MaybePromise<object> {
  const { request, params, query } = exchange;
  const { authority, records, registry, deviceSessions, config, now } = services;
  const mayBeInPayload = op.access.inPayload === true || params['namespace'] === 'charm';
  const tokens = (): MaybePromise<PresentedTokens> => readPresentedTokens(request, mayBeInPayload, content);
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
      whenReady(
        whenReady(tokens(), (presented) => {
          inPayload = presented.inPayload;
          return authority.authenticate(presented.tokens);
        }),
        (principal) => {
          exchange.principal = principal;
          authority.used(principal.sessionId);
          return principal;
        },
      ),
    async browse() {
      const session = await requireBrowserSession(exchange, services);
      exchange.principal = session.principal;
      authority.used(session.principal.sessionId);
      return session;
    },
    login: async () => authority.login((await tokens()).tokens),
    presentsToken: async () => (await tokens()).tokens.length > 0,
    inPayload: () => inPayload,
  });
}

/** Turns the result of a handler into a response. */
function present(op: Operation, result: unknown, { checkAnswers }: AnswerOptions): OutgoingResponse {
  if (result instanceof OperationResponse) {
    return { status: result.status ?? op.status ?? 200, headers: result.headers, body: result.body };
  }
  if (checkAnswers && op.response !== undefined) checkAnswer(op, result);
  if (result === undefined) return { status: op.status ?? 204, headers: {}, body: undefined };
  return { status: op.status ?? 200, headers: json, body: JSON.stringify(result) };
}

/** In development and tests, a response that breaks its own shape is our error and throws. */
function checkAnswer(op: Operation, result: unknown): void {
  try {
    checkShape(op.response as keyof Wire, result);
  } catch (error) {
    throw new Error(`cannot answer ${op.name}: ${(error as Error).message}`, { cause: error });
  }
}

/** The response that reports an error, in the format of the operation; a page in the console, and for browsers if nothing is at the address. */
function createErrorResponse(
  { request, path, operation, errors, allow, failure }: Exchange,
  { config }: ServerServices,
): OutgoingResponse {
  const isNothing = operation === 'none' && failure instanceof Refusal && failure.status === 404;
  const isPage = config.http.console && isConsolePage(path);
  if (isNothing && (isPage || prefersHtml(request))) return notFoundPage(path, config.http.base_url);
  const response = toErrorResponse(failure, errors ?? familyAt(path), allow);
  if (!isPage) return response;
  const message = failure instanceof Refusal ? failure.message : 'The server failed. Its log has the details.';
  return errorPage(response, message, config.http.base_url);
}
