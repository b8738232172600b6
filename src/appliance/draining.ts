// How a stop waits for what is under way: a download is not cut for a restart, since not every client takes it up again.
import type { IncomingMessage, Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

import { minutes, seconds } from '#domain/clock.ts';

/** On a connection that moves nothing for so long nobody is waited for: snapd itself gives up at 4,096 bytes a second. */
const still = seconds(60);

/**
 * The same for an upload whose client sends nothing. Of a download the system may still have for a minute what a slow
 * client is taking, so that one has longer.
 */
const stillSending = seconds(10);

/** A connection is idle again when its request under way is finished; so often is looked. */
const pause = 100;

export interface Patience {
  /** How long a stop waits at most. */
  minutes: number;
  /** Milliseconds of a clock that goes forward alone. */
  elapsed: () => number;
}

/** Follows the connections of a server from now on; what it gives waits until they have ended, and ends what is stuck. */
export function followConnections(server: Server): (patience: Patience) => Promise<void> {
  const open = new Set<Socket>();
  const requests = new Map<Socket, IncomingMessage>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      requests.delete(socket);
    });
  });
  const follow = (request: IncomingMessage): void => void requests.set(request.socket, request);
  server.on('request', follow).on('checkExpectation', follow);
  const patienceWith = (socket: Socket): number => (awaitsClient(requests.get(socket)) ? stillSending : still);

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
        else if (elapsed() - before.at >= patienceWith(socket)) socket.destroy();
      }
      if (elapsed() - begun >= minutes(longest)) server.closeAllConnections();
    };
    sweep();
    const sweeping = setInterval(sweep, pause);
    await ended.promise;
    clearInterval(sweeping);
  };
}

/** Whether the rest of a body is to come from the client, and it is not this side that makes the client wait. */
const awaitsClient = (request: IncomingMessage | undefined): boolean =>
  request !== undefined && !request.complete && !request.isPaused() && request.readableLength === 0;
