// Drains connections at a stop: a download is not cut off for a restart, because not every client resumes it.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import { minutes, seconds } from '#domain/clock.ts';
import { isTlsServer } from '#http/server.ts';

/** A connection without traffic for this long is closed: snapd itself gives up below 4,096 bytes per second. */
const downloadIdleMs = seconds(60);

/**
 * The same for an upload if its client sends nothing. A download gets the longer time, because the system may hold up
 * to a minute of data for a slow client.
 */
const uploadIdleMs = seconds(10);

/** Interval of checks: a connection is idle when its request is finished. */
const checkIntervalMs = 100;

export interface DrainLimits {
  /** The maximum duration of draining, in minutes. */
  minutes: number;
  /** A monotonic clock in milliseconds. */
  elapsed: () => number;
}

/**
 * Tracks the connections of a server from now on. Call the result at a stop: it waits until they have ended, and closes
 * those without traffic.
 */
export function followConnections(server: Server): (limits: DrainLimits) => Promise<void> {
  const open = new Set<Socket>();
  const requests = new Map<Socket, IncomingMessage>();
  server.on(isTlsServer(server) ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      requests.delete(socket);
    });
  });
  const follow = (request: IncomingMessage): void => void requests.set(request.socket, request);
  server.on('request', follow).on('checkExpectation', follow);
  const idleTimeoutOf = (socket: Socket): number =>
    awaitsClient(requests.get(socket)) ? uploadIdleMs : downloadIdleMs;

  return async ({ minutes: longest, elapsed }) => {
    const ended = Promise.withResolvers<undefined>();
    server.close(() => ended.resolve(undefined));
    const begun = elapsed();
    const seen = new Map<Socket, { bytes: number; at: number }>();
    const sweep = (): void => {
      server.closeIdleConnections();
      for (const socket of open) {
        const bytes = socket.bytesRead + socket.bytesWritten;
        const before = seen.get(socket);
        if (bytes !== before?.bytes) seen.set(socket, { bytes, at: elapsed() });
        else if (elapsed() - before.at >= idleTimeoutOf(socket)) socket.destroy();
      }
      if (elapsed() - begun >= minutes(longest)) server.closeAllConnections();
    };
    sweep();
    const sweeping = setInterval(sweep, checkIntervalMs);
    await ended.promise;
    clearInterval(sweeping);
  };
}

/** Whether the server is waiting for the rest of a body, and not the client for the server. */
const awaitsClient = (request: IncomingMessage | undefined): boolean =>
  request !== undefined && !request.complete && !request.isPaused() && request.readableLength === 0;
