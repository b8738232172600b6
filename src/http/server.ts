// The HTTP server. The only file that imports Koa.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions as HttpsOptions } from 'node:https';
import { Readable } from 'node:stream';

import Koa from 'koa';

import { timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { attempt, whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import { logAnswered } from '#platform/log.ts';
import { clientAddress, isInNetworks, toBlockList } from './request/client-address.ts';
import { runOperation, runOperationWithPages, parseMembers, type Exchange } from './run-operation.ts';
import { limitConcurrentRequests, limitConnections, type ConnectionLimits } from './connection-limits.ts';
import { readTarget, refuseMalformed, refuseUnreadable, writeErrorResponse } from './malformed-requests.ts';
import { closeAfterResponse } from './request/multipart.ts';
import { notFoundPage, prefersHtml } from './response/not-found-page.ts';
import type { Operation } from './operation.ts';
import { createRouteTable, type RouteTable } from './route-table.ts';
import { familyAt, toErrorResponse, snapStoreVersion, type ErrorFamily } from './error-responses.ts';
import { createRepeatableResponseCache } from './response/response-cache.ts';
import { json, type OutgoingResponse } from './response/outgoing-response.ts';
import { privateNoStore } from './response/revalidation.ts';
import type { ServerServices } from './services.ts';
import { sendContent } from './response/send-content.ts';
import { isEnabled } from './switches.ts';

/** The newest implemented version of the interface. */
export const apiVersion = 61;

const prefix = '/publishergw';

export interface ServerOptions {
  operations: Operation[];
  /** The present services; a reload changes their configuration. */
  services: () => ServerServices;
  /** Whether every response is validated against its shape; on in development and tests. */
  checkAnswers: boolean;
  connections: ConnectionLimits;
  /** Certificate, key and cipher suites if the store serves TLS; `setSecureContext` may change them later. */
  tls?: HttpsOptions | undefined;
}

export interface StoreServer {
  /** The caller starts to listen. */
  server: Server;
  /** Resolves when no handler is running, not even for a disconnected client. */
  settled(): Promise<void>;
}

const notAProxy = ['405 Method Not Allowed', 'method-not-allowed', 'This server is not a proxy.'] as const;

/** Builds the server. */
export function createServer(options: ServerOptions): StoreServer {
  const { services, connections, tls } = options;
  const atWork = new Set<Promise<void>>();
  const converseIn = conversations(options);
  const serveOne = (request: IncomingMessage, response: ServerResponse): MaybePromise<void> => {
    const work = attempt(
      () => converseIn(request, response),
      (error) => {
        services().log.error({ err: error }, 'cannot answer');
        response.destroy();
      },
    );
    if (!(work instanceof Promise)) return;
    atWork.add(work);
    return work.finally(() => atWork.delete(work));
  };
  const app = new Koa();
  app.silent = true; // errors of a connection are in its log line
  app.use((ctx) => {
    ctx.respond = false; // `send` writes the response, because it already knows every header
    return serveOne(ctx.req, ctx.res);
  });

  const settings = {
    maxHeaderSize: 72 * 1024, // room for a token of 64 KiB
    requestTimeout: 0, // a slow upload that makes progress is never cut off; JSON bodies have their own timeout
    headersTimeout: 60_000,
    keepAliveTimeout: 75_000,
    requireHostHeader: false, // `refuseMalformed` requires it, with our own message
  };
  const others = app.callback() as (request: IncomingMessage, response: ServerResponse) => void;
  const repeatablePaths = new Set(
    options.operations.filter((op) => op.repeatable !== undefined).map(({ path }) => path),
  );
  // The frequent calls of gateways bypass Koa, which saves 1 µs; their body has arrived when the parser is done.
  const serve = limitConcurrentRequests((request, response) => {
    if (request.url?.startsWith('/') === false) readTarget(request);
    if (repeatablePaths.has(request.url ?? '')) queueMicrotask(() => void serveOne(request, response));
    else others(request, response);
  }, connections);
  const server =
    tls === undefined ? createHttpServer(settings, serve) : createHttpsServer({ ...settings, ...tls }, serve);
  limitConnections(server, {
    limits: connections,
    isProxy: (address) => isInNetworks(address, toBlockList(services().config.http.trusted_proxies)),
    log: () => services().log,
  });
  server.on('checkExpectation', serve); // expectations other than 100-continue may be ignored (RFC 9110, 10.1.1)
  const headersWithoutOperation = () => everyAnswer(services().newId.uuid(), 'none');
  server.on('connect', (_request, socket) => {
    writeErrorResponse(socket, notAProxy, headersWithoutOperation());
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    refuseUnreadable(error, socket, headersWithoutOperation());
  });
  return {
    server,
    async settled() {
      while (atWork.size > 0) await Promise.allSettled(atWork);
    },
  };
}

/** Handles requests by the operation at their address, with one configuration from beginning to end. */
function conversations({
  operations,
  services,
  checkAnswers,
}: ServerOptions): (request: IncomingMessage, response: ServerResponse) => MaybePromise<void> {
  const places = createRouteTable(operations);
  const repeatable = operations.filter((op) => op.repeatable !== undefined);
  const repeats = new Map(repeatable.map((op) => [op, createRepeatableResponseCache()]));
  return (request, response) => {
    const current = services();
    return converse(request, response, current, (call) => {
      refuseMalformed(request, call.whole, places.isLiteral(call.whole));
      const { op, params } = findOperation(call, places, current);
      call.exchange.params = params;
      call.exchange.query = parseMembers(call.search, 'The query', op.repeated);
      const manner = { checkAnswers, repeats: repeats.get(op) };
      return op.refused === undefined
        ? runOperation(op, call.exchange, current, manner)
        : runOperationWithPages(op, call.exchange, current, manner);
    });
  };
}

/** The state of a request on the way to its operation. */
interface RequestState {
  exchange: Exchange;
  /** `whole` is the address of the request without its query; `path` is also without the prefix. */
  whole: string;
  path: string;
  /** The query string. */
  search: string;
  /** Whether the path began with the alternative prefix of the interface. */
  prefixed: boolean;
  /** The operation's name, or `none` if the address has no operation. */
  operation: string;
  /** The error format; follows from the address alone until the operation is found. */
  errors: ErrorFamily | undefined;
  /** The methods of the address, if the request has another one. */
  allow: string | undefined;
}

/** Finds the operation of a request, or refuses the request. */
function findOperation(
  call: RequestState,
  places: RouteTable,
  services: ServerServices,
): { op: Operation; params: Record<string, string> } {
  const { path, prefixed } = call;
  const { method } = call.exchange.request;
  const place = places.find(path, (op) => isThere(op, services, prefixed));
  if (place === undefined) throw nothingHere(path);
  call.errors = place.operations[0]?.errors ?? 'publisher';
  const op = place.operations.find(
    (candidate) => candidate.method === method || (candidate.method === 'GET' && method === 'HEAD'),
  );
  if (op === undefined) {
    const methods = place.operations.flatMap((candidate) =>
      candidate.method === 'GET' ? ['GET', 'HEAD'] : [candidate.method],
    );
    call.allow = methods.sort().join(', ');
    throw new Refusal('method-not-allowed', `This address takes ${methods.join(', ')}, not ${String(method)}.`);
  }
  call.operation = op.name;
  call.errors = op.errors ?? 'publisher';
  return { op, params: place.params };
}

/** Handles one request from its first header to its log line. */
function converse(
  request: IncomingMessage,
  response: ServerResponse,
  services: ServerServices,
  act: (call: RequestState) => MaybePromise<OutgoingResponse>,
): MaybePromise<void> {
  const started = performance.now();
  const call = begin(request, response, services);
  let failure: unknown;
  const sent = attempt(
    () => act(call),
    (error) => {
      failure = error;
      const isNothing = call.operation === 'none' && error instanceof Refusal && error.status === 404;
      if (isNothing && prefersHtml(request)) return notFoundPage(call.path, services.config.http.base_url);
      return toErrorResponse(error, call.errors ?? familyAt(call.path), call.allow);
    },
  );
  return whenReady(sent, (sent) =>
    whenReady(send(call, sent, services), (aborted) => {
      conclude(call, { status: sent.status, failure, aborted, milliseconds: performance.now() - started }, services);
    }),
  );
}

/** The state of a request before it is examined. */
function begin(request: IncomingMessage, response: ServerResponse, services: ServerServices): RequestState {
  const { trusted_proxies: trusted } = services.config.http;
  services.unknownProxies.see(request, trusted);
  const { url = '' } = request;
  const end = url.indexOf('?');
  const whole = end < 0 ? url : url.slice(0, end);
  const prefixed = whole === prefix || whole.startsWith(`${prefix}/`);
  const path = prefixed ? whole.slice(prefix.length) || '/' : whole;
  const address = clientAddress(request, toBlockList(trusted));
  const requestId = services.newId.uuid();
  return {
    exchange: { request, response, params: {}, query: {}, address, requestId },
    whole,
    path,
    prefixed,
    search: end < 0 ? '' : url.slice(end + 1),
    operation: 'none',
    errors: undefined,
    allow: undefined,
  };
}

interface RequestOutcome {
  status: number;
  failure: unknown;
  aborted: boolean;
  milliseconds: number;
}

/** Counts a finished request, and writes its log line. */
function conclude({ exchange, operation }: RequestState, outcome: RequestOutcome, services: ServerServices): void {
  const { metrics, lastHour, log } = services;
  const { status, failure, aborted, milliseconds } = outcome;
  const refusal = failure instanceof Refusal ? failure : exchange.refused;
  metrics.answered({ operation, status, refusal: refusal?.code, seconds: milliseconds / 1000 });
  lastHour.count(status);
  const line = {
    request: exchange.requestId,
    operation,
    method: exchange.request.method ?? '',
    status,
    account: exchange.principal?.accountId,
    address: exchange.address,
    ms: Math.round(milliseconds * 10) / 10,
  };
  if (failure === undefined && refusal === undefined && !aborted) return logAnswered(log, line);
  const details = {
    ...line,
    ...(refusal && { refusal: refusal.code, reason: refusal.message }),
    ...(aborted && { aborted }),
  };
  if (failure === undefined || failure instanceof Refusal) log.info(details, 'answered');
  else log.error({ ...details, err: failure }, 'failed');
}

/** Default headers of a response: caches do not store it, and browsers show it in isolation. */
const closed = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** The headers of a response plus the defaults that it does not set, as names and values in turn. */
const withClosed = (headers: Record<string, string>): string[] =>
  [...closed.filter(([name]) => !(name in headers)), ...Object.entries(headers)].flat();

/** The headers of nearly every response. */
const closedJson = withClosed(json);

const isEncrypted = ({ socket }: IncomingMessage): boolean => 'encrypted' in socket;

/** The headers of every response. */
const everyAnswer = (requestId: string, operation: string): string[] => [
  'publishergw-version',
  String(apiVersion),
  'x-request-id',
  requestId,
  'x-view-name',
  `larder.${operation}`,
];

/** Whether a token expires soon; a header then tells the user. */
const tellsOfItsEnd = ({ until }: Principal, { authority }: ServerServices): boolean =>
  until - authority.latestTime().getTime() <= expiryWarningMs;

/** Sends a response; true if the client disconnected before it was complete. */
function send(
  { exchange, operation, errors }: RequestState,
  { status, headers, body }: OutgoingResponse,
  services: ServerServices,
): MaybePromise<boolean> {
  const { request, response, requestId, principal } = exchange;
  // A device interface response to an account may contain its private snaps. Set here, so that no operation can forget it.
  const own = errors === 'snapd' && principal !== undefined ? { ...headers, ...privateNoStore } : headers;
  const more = everyAnswer(requestId, operation).concat(own === json ? closedJson : withClosed(own));
  if (principal !== undefined && tellsOfItsEnd(principal, services)) {
    more.push('macaroon-expires', timestamp(new Date(principal.until)));
  }
  if (errors === 'snapd') more.push('snap-store-version', snapStoreVersion);
  // Browsers that have used TLS once use TLS for a year.
  if (isEncrypted(request)) more.push('strict-transport-security', 'max-age=31536000');
  if (body instanceof Readable) {
    response.writeHead(status, more);
    return sendContent(body, response);
  }
  // The body is still arriving, so the request was refused: the sender is told to stop, and the connection ends.
  closeAfterResponse(request, response);
  if (body === undefined) {
    response.writeHead(status, more).end();
    return false;
  }
  const length = Buffer.byteLength(body);
  more.push('content-length', String(length));
  // A text with as many bytes as characters is ASCII; latin1 copies it from memory as it is, which takes a tenth of the time for a large
  // response.
  response.writeHead(status, more).end(body, length === body.length ? 'latin1' : 'utf8');
  return false;
}

/** Whether an operation exists at the address with or without the prefix. */
const isThere = (op: Operation, { config }: ServerServices, withPrefix: boolean): boolean =>
  !(withPrefix && op.prefixed === false) && isEnabled(op, config);

const nothingHere = (path: string): Refusal =>
  // Keeps secrets of 32 bytes in an address, such as that of a set-up link, out of the message and so out of the log.
  new Refusal('resource-not-found', `There is nothing at ${path.slice(0, 200).replace(/[\w-]{43,}/g, '…')}.`);
