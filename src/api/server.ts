// The HTTP server: the only file that knows Koa.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions as HttpsOptions } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import Router from '@koa/router';
import Koa from 'koa';

import { Refusal } from '#domain/refusal.ts';
import { clientAddress, proxies } from './address.ts';
import { answer, json, type Exchange, type Sent } from './answer.ts';
import { hangUpAfterAnswer } from './multipart.ts';
import type { Operation } from './operation.ts';
import type { Services } from './services.ts';

/** The newest version of the interface that is implemented. */
export const apiVersion = 61;

const prefix = '/publishergw';

export interface ServerOptions {
  operations: Operation[];
  /** The services as they stand now; a reload changes the configuration in them. */
  services: () => Services;
  /** Whether every answer is held against its shape; on in development and tests. */
  checkAnswers: boolean;
  /** Certificate, key and suites where the store speaks TLS; they may be changed later by `setSecureContext`. */
  tls?: HttpsOptions | undefined;
}

/** Builds the server; the caller listens. */
export function createServer({ operations, services, checkAnswers, tls }: ServerOptions): Server {
  const router = new Router({ strict: true, sensitive: true });
  for (const op of [...operations].sort(moreLiteralFirst)) {
    router.register(op.path, [op.method], () => undefined, { name: op.name });
  }
  const declared = new Map(operations.map((op) => [op.name, op]));

  const app = new Koa();
  app.silent = true; // what goes wrong with a connection is in its log line
  app.use(async (ctx, next) => {
    ctx.respond = false; // the answer goes out by `send`, which knows each header already
    await converse(ctx, next, services());
  });
  app.use(async (ctx) => {
    const current = services();
    const layers = router.match(ctx.path, ctx.method).path.filter(({ name }) => {
      const op = declared.get(name ?? '');
      return op !== undefined && isThere(op, current, ctx.state['prefixed'] === true);
    });
    // The most literal path decides: `DELETE /v1/tokens/whoami` is about no package called whoami.
    const here = layers.filter(({ path }) => path === layers[0]?.path);
    const layer = here.find(({ methods }) => methods.includes(ctx.method));
    const op = declared.get(layer?.name ?? '');
    if (here.length === 0) throw nothingHere(ctx.path);
    if (layer === undefined || op === undefined) {
      const allowed = [...new Set(here.flatMap(({ methods }) => methods))].sort().join(', ');
      ctx.state['allow'] = allowed;
      throw new Refusal('method-not-allowed', `This address takes ${allowed}, not ${ctx.method}.`);
    }
    ctx.state['operation'] = op.name;
    const exchange = ctx.state['exchange'] as Exchange;
    exchange.params = layer.params(ctx.path, layer.captures(ctx.path));
    exchange.query = queryOf(ctx.querystring);
    ctx.state['sent'] = await answer(op, exchange, current, checkAnswers);
  });

  const limits = {
    maxHeaderSize: 72 * 1024, // room for a token of 64 KiB
    requestTimeout: 0, // a slow but moving upload is never cut off; JSON bodies have a limit of their own
    headersTimeout: 60_000,
    keepAliveTimeout: 75_000,
    requireHostHeader: false, // it is required by `refuseTricks`, which says so in our words
  };
  const listener = app.callback() as (request: IncomingMessage, response: ServerResponse) => void;
  const server = tls === undefined ? createHttpServer(limits, listener) : createHttpsServer({ ...limits, ...tls }, listener);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    refuseUnread(error, socket as Socket, services().newId.uuid());
  });
  return server;
}

/** One request from its first header to its log line. */
async function converse(ctx: Koa.Context, next: Koa.Next, services: Services): Promise<void> {
  const started = performance.now();
  const requestId = services.newId.uuid();
  const exchange: Exchange = {
    request: ctx.req,
    response: ctx.res,
    params: {},
    query: {},
    address: clientAddress(ctx.req, proxies(services.config.http.trusted_proxies)),
    requestId,
  };
  let sent: Sent;
  let failure: unknown;
  try {
    refuseTricks(ctx.req);
    if (ctx.path === prefix || ctx.path.startsWith(`${prefix}/`)) {
      ctx.path = ctx.path.slice(prefix.length) || '/';
      ctx.state['prefixed'] = true;
    }
    ctx.state['exchange'] = exchange;
    await next();
    sent = ctx.state['sent'] as Sent;
  } catch (error) {
    failure = error;
    sent = refused(error, ctx.state['allow'] as string | undefined);
  }
  const operation = (ctx.state['operation'] as string | undefined) ?? 'none';
  const { res } = ctx;
  for (const [name, value] of Object.entries(everyAnswer(requestId, operation))) res.setHeader(name, value);
  const aborted = await send(ctx.req, res, sent);
  const line = {
    request: requestId,
    operation,
    method: ctx.method,
    status: sent.status,
    account: exchange.principal?.accountId,
    address: exchange.address,
    ms: Math.round((performance.now() - started) * 10) / 10,
    ...(failure instanceof Refusal ? { refusal: failure.code, reason: failure.message } : undefined),
    ...(aborted ? { aborted: true } : undefined),
  };
  services.metrics.answered({
    operation,
    status: sent.status,
    refusal: failure instanceof Refusal ? failure.code : undefined,
    seconds: (performance.now() - started) / 1000,
  });
  if (failure === undefined || failure instanceof Refusal) services.log.info(line, 'answered');
  else services.log.error({ ...line, err: failure }, 'failed');
}

/** The headers that every answer carries. */
const everyAnswer = (requestId: string, operation: string): Record<string, string> => ({
  'publishergw-version': String(apiVersion),
  'x-request-id': requestId,
  'x-view-name': `larder.${operation}`,
});

/** Sends an answer; true when the client went away before it was whole. */
async function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Sent): Promise<boolean> {
  if (body instanceof Readable) {
    response.writeHead(status, headers);
    try {
      await pipeline(body, response);
      return false;
    } catch {
      return true;
    }
  }
  // A body that is still arriving has been refused: its sender is told to stop, and the connection ends.
  if (hasBody(request)) hangUpAfterAnswer(request, response);
  if (body === undefined) response.writeHead(status, headers).end();
  else response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  return false;
}

const hasBody = (request: IncomingMessage): boolean =>
  'transfer-encoding' in request.headers || Number(request.headers['content-length'] ?? 0) > 0;

/** What a refused or failed call is told. */
function refused(error: unknown, allow: string | undefined): Sent {
  const refusal = error instanceof Refusal ? error : undefined;
  const body = {
    'error-list': [
      refusal === undefined
        ? { code: 'internal-error', message: 'Something went wrong on the server; its log has the details under this x-request-id.' }
        : { code: refusal.code, message: refusal.message },
    ],
    // Web front ends know by these two that a login is due.
    ...(refusal?.code === 'macaroon-authorization-required' && {
      Code: 'macaroon discharge required',
      Message: 'discharge required',
    }),
  };
  return {
    status: refusal?.status ?? 500,
    headers: {
      ...json,
      ...(refusal?.retryAfter !== undefined && { 'retry-after': String(refusal.retryAfter) }),
      ...(allow !== undefined && { allow }),
    },
    body: JSON.stringify(body),
  };
}

/** What the HTTP parser lets pass although no honest client sends it. */
function refuseTricks(request: IncomingMessage): void {
  const { url = '', rawHeaders } = request;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) throw new Refusal('api-error', 'The request has more than one Host header.');
  if (hosts === 0 && request.httpVersion !== '1.0') throw new Refusal('api-error', 'The request has no Host header.');
  if (!url.startsWith('/')) throw new Refusal('api-error', 'The request target must be a path, beginning with a slash.');
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  if (/%2f|%5c|%00|\\|\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) {
    throw new Refusal('api-error', 'The path may not hold encoded slashes, backslashes, empty or dot segments.');
  }
  if (path.includes('%')) {
    try {
      decodeURIComponent(path);
    } catch {
      throw new Refusal('api-error', 'The path is not well-formed.');
    }
  }
  if (url.length > 8192) throw new Refusal('api-error', 'The request target is longer than 8192 characters.');
}

/** The members of a query; one that is given twice is refused, because two readers would take different ones. */
function queryOf(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in query) throw new Refusal('api-error', `The query names '${name.slice(0, 100)}' twice.`);
    query[name] = value;
  }
  return query;
}

/** Answers a request that the parser could not read, as far as the connection still takes an answer. */
function refuseUnread(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, code, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'header-too-large', 'The headers are larger than 72 KiB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'api-error', 'The request did not arrive in time.']
        : ['400 Bad Request', 'api-error', 'This is not a well-formed HTTP request.'];
  const body = JSON.stringify({ 'error-list': [{ code, message }] });
  const headers = {
    ...everyAnswer(requestId, 'none'),
    ...json,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
}

/** Whether an operation is there at all, as the store is configured, at the address without or with the prefix. */
function isThere({ enabledBy, prefixed }: Operation, { config }: Services, withPrefix: boolean): boolean {
  if (withPrefix && prefixed === false) return false;
  if (enabledBy === undefined) return true;
  if (enabledBy === 'http.metrics') return config.http.metrics;
  if (enabledBy === 'http.documents') return config.http.documents;
  if (enabledBy === 'internal.package_permissions') return config.internal.package_permissions;
  const { store_admin_id: id, store_admin_macaroon_sha3_384: digests } = config.auth;
  return config.store.offline_mode && id !== undefined && digests !== undefined;
}

const nothingHere = (path: string): Refusal =>
  new Refusal('resource-not-found', `There is nothing at ${path.slice(0, 200)}.`);

/** `/v1/tokens` before `/v1/:namespace`, whatever the order of the list. */
function moreLiteralFirst(a: Operation, b: Operation): number {
  const [left, right] = [a.path.split('/'), b.path.split('/')];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = Number(left[at]?.startsWith(':')) - Number(right[at]?.startsWith(':'));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
