// The HTTP server. The only file that imports Koa.
import { EventEmitter, once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createServer as createHttpsServer,
  type Server as TlsServer,
  type ServerOptions as HttpsOptions,
} from 'node:https';

import Koa from 'koa';

import { answer } from './answer.ts';
import { limitConcurrentRequests, limitConnections, type ConnectionLimits } from './connection-limits.ts';
import { RepeatedResponses } from './fast-path.ts';
import { readTarget, refuseUnreadable, writeErrorResponse } from './malformed-requests.ts';
import type { Operation } from './operation.ts';
import { isInNetworks, toBlockList } from './request/client-address.ts';
import { everyAnswer } from './response/send-response.ts';
import { createRouteTable } from './route-table.ts';
import type { ServerServices } from './services.ts';

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

/** Whether a server speaks TLS. Not by its class: Node's module reads the root certificates, and the executable loads it at its first use. */
export const isTlsServer = (server: object): server is TlsServer => 'setSecureContext' in server;

const notAProxy = ['405 Method Not Allowed', 'method-not-allowed', 'This server is not a proxy.'] as const;

/** Builds the server. */
export function createServer(options: ServerOptions): StoreServer {
  const { services, connections, tls } = options;
  const { receive, settled } = createReceiver(options);
  const serve = limitConcurrentRequests(receive, connections);
  const settings = {
    maxHeaderSize: 72 * 1024, // room for a token of 64 KiB
    requestTimeout: 0, // a slow upload that makes progress is never cut off; JSON bodies have their own timeout
    headersTimeout: 60_000,
    keepAliveTimeout: 75_000,
    requireHostHeader: false, // `refuseMalformed` requires it, with our own message
  };
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
  return { server, settled };
}

/** Answers requests: repeated ones by the fast path, the others through Koa. */
function createReceiver({ operations, services, checkAnswers }: ServerOptions) {
  let runningCount = 0;
  const allSettled = new EventEmitter();
  const repeated = new RepeatedResponses(operations);
  const answerOptions = { services, routes: createRouteTable(operations), repeated, checkAnswers };
  const fail = (response: ServerResponse, error: unknown): void => {
    services().log.error({ err: error }, 'cannot answer');
    response.destroy();
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    runningCount++;
    try {
      await answer(request, response, answerOptions);
    } catch (error) {
      fail(response, error);
    }
    if (--runningCount === 0) allSettled.emit('settled');
  };
  const repeat = (request: IncomingMessage, response: ServerResponse): void => {
    try {
      if (!repeated.answerAtOnce(request, response, services())) void serve(request, response);
    } catch (error) {
      fail(response, error);
    }
  };
  const app = new Koa();
  app.silent = true; // errors of a connection are in its log line
  app.use((ctx) => {
    ctx.respond = false; // `sendResponse` writes the response, because it already knows every header
    return serve(ctx.req, ctx.res);
  });

  const serveThroughKoa = app.callback() as (request: IncomingMessage, response: ServerResponse) => void;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith('/') === false) readTarget(request);
    if (!repeated.has(request.url ?? '')) serveThroughKoa(request, response);
    // A microtask later the parser has read the body, if it arrived with the headers.
    else queueMicrotask(() => repeat(request, response));
  };
  const settled = async (): Promise<void> => {
    while (runningCount > 0) await once(allSettled, 'settled');
  };
  return { receive, settled };
}
