// Limits how much of the store one connection and one client may use. Node sets no limits here: it starts every request in the bytes that
// it has read, and accepts connections until the process has no file descriptors left.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { clientOf } from '#domain/client.ts';

export interface ConnectionLimits {
  /** Concurrent requests of one connection; one more closes it. */
  requests: number;
  /** Connections of one client. */
  ofClient: number;
  /** Connections of all clients. */
  all: number;
}

/** Returns the limits for a process with this many file descriptors, after a reserve for its files. */
export function connectionLimits(descriptors: number): ConnectionLimits {
  const all = Math.max(Math.floor(descriptors / 2), descriptors - roomForFiles);
  return { requests: 16, ofClient: Math.min(2048, Math.floor(all / 2)), all };
}

/** Two for each of 512 uploads, plus the database, the threads and the log. */
const roomForFiles = 1280;

export interface ConnectionLimitOptions {
  limits: ConnectionLimits;
  /** Whether many clients connect through this address; each of them is counted by the forwarded address. */
  isProxy: (address: string) => boolean;
  log: () => Pick<Logger, 'warn'>;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Closes connections above the limits. Logs once, and again only after half of the open connections have ended. */
export function limitConnections(server: Server, { limits, isProxy, log }: ConnectionLimitOptions): void {
  const allClients = counter(limits.all);
  const clients = new Map<string, Counter>();
  server.maxConnections = limits.all;
  // A full worker of several closes the connection, as a single process does, instead of passing it on for ever.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => {
    if (allClients.shouldReport())
      log().warn({ connections: limits.all }, 'closes further connections: the limit of all connections is reached');
  });
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const client = clientOf(address);
    const clientCounter = clients.get(client) ?? counter(isProxy(address) ? Infinity : limits.ofClient);
    if (clientCounter.isFull()) {
      socket.destroy();
      if (clientCounter.shouldReport())
        log().warn({ address }, 'closes further connections of this address: its limit is reached');
      return;
    }
    clients.set(client, clientCounter);
    for (const connectionCount of [clientCounter, allClients]) connectionCount.add();
    socket.once('close', () => {
      for (const connectionCount of [clientCounter, allClients]) connectionCount.remove();
      if (clientCounter.isEmpty()) clients.delete(client);
    });
  });
}

type Counter = ReturnType<typeof counter>;

function counter(limit: number) {
  let count = 0;
  let isReported = false;
  return {
    isFull: () => count >= limit,
    isEmpty: () => count === 0,
    add: () => {
      count++;
    },
    remove() {
      count--;
      if (count <= limit / 2) isReported = false;
    },
    /** Whether to log that the limit is reached. */
    shouldReport() {
      const shouldReport = !isReported;
      isReported = true;
      return shouldReport;
    },
  };
}

/**
 * Closes a connection with too many concurrent requests. A response counts until the client has read it, so that clients that never read
 * are limited too.
 */
export function limitConcurrentRequests(serve: Serve, { requests }: Pick<ConnectionLimits, 'requests'>): Serve {
  return (request, response) => {
    const socket: Busy = request.socket;
    const count = (socket[underWay] ?? 0) + 1;
    // Requests that were read together with this one still arrive here after the connection is closed.
    if (count > requests || socket.destroyed) {
      socket.destroy();
      return;
    }
    socket[underWay] = count;
    response.on('close', () => {
      socket[underWay] = (socket[underWay] ?? 1) - 1;
    });
    serve(request, response);
  };
}

/** The number of running requests of a connection. */
const underWay = Symbol('requests under way');
type Busy = Socket & { [underWay]?: number };
