// How much of the store one connection and one client may take. Node sets no bounds of its own here: it begins every
// request that it finds in what it has read, and takes connections until the process has no descriptors left for files.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { clientOf } from '#domain/client.ts';

export interface ConnectionLimits {
  /** Requests under way on one connection; it is closed when another one comes. */
  requests: number;
  /** Connections of one client. */
  ofClient: number;
  /** Connections in all. */
  all: number;
}

/** The limits for a process that may have so many descriptors open: what it takes for its files is left to it. */
export function connectionLimits(descriptors: number): ConnectionLimits {
  const all = Math.max(Math.floor(descriptors / 2), descriptors - roomForFiles);
  return { requests: 16, ofClient: Math.min(2048, Math.floor(all / 2)), all };
}

/** Two for each of 512 uploads, and those of the database, the threads and the log. */
const roomForFiles = 1280;

export interface Listening {
  limits: ConnectionLimits;
  /** Whether many people come by this address, each counted by the address that it forwards. */
  isProxy: (address: string) => boolean;
  log: () => Pick<Logger, 'warn'>;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Closes the connections that are too many. The log is told once, until half of those that are open have ended. */
export function limitConnections(server: Server, { limits, isProxy, log }: Listening): void {
  const everybody = counter(limits.all);
  const clients = new Map<string, Counter>();
  server.maxConnections = limits.all;
  // Among several workers one that is full closes what is too much, as one alone does, and does not hand it on for ever.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => {
    if (everybody.tell()) log().warn({ connections: limits.all }, 'closes further connections: no more are possible');
  });
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const client = clientOf(address);
    const theirs = clients.get(client) ?? counter(isProxy(address) ? Infinity : limits.ofClient);
    if (theirs.isFull()) {
      socket.destroy();
      if (theirs.tell()) log().warn({ address }, 'closes further connections of this address: it has too many');
      return;
    }
    clients.set(client, theirs);
    for (const one of [theirs, everybody]) one.add();
    socket.once('close', () => {
      for (const one of [theirs, everybody]) one.remove();
      if (theirs.isEmpty()) clients.delete(client);
    });
  });
}

type Counter = ReturnType<typeof counter>;

function counter(limit: number) {
  let count = 0;
  let told = false;
  return {
    isFull: () => count >= limit,
    isEmpty: () => count === 0,
    add: () => {
      count++;
    },
    remove() {
      count--;
      if (count <= limit / 2) told = false;
    },
    /** Whether the log is to be told that it is full. */
    tell() {
      const tell = !told;
      told = true;
      return tell;
    },
  };
}

/**
 * Closes a connection whose client asks for more at once than it may. An answer counts until the client has taken it,
 * so that whoever reads nothing is bounded too.
 */
export function fewAtOnce(serve: Serve, { requests }: Pick<ConnectionLimits, 'requests'>): Serve {
  return (request, response) => {
    const socket: Busy = request.socket;
    const count = (socket[underWay] ?? 0) + 1;
    // What else was read with it still comes here when the connection is closed.
    if (count > requests || socket.destroyed) {
      socket.destroy();
      return;
    }
    socket[underWay] = count;
    response.on('close', answered);
    serve(request, response);
  };
}

/** How many requests of a connection are under way. */
const underWay = Symbol('requests under way');
type Busy = Socket & { [underWay]?: number };

/** One function for all answers: a new one for each costs 0.2 µs. */
function answered(this: ServerResponse): void {
  const socket: Busy = this.req.socket;
  socket[underWay] = (socket[underWay] ?? 1) - 1;
}
