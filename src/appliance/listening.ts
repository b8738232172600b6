// Listens for connections, and stops: requests in progress are finished first.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { isTlsServer, type StoreServer } from '#http/server.ts';
import { seconds } from '#domain/clock.ts';

/** How long a stop waits for handlers after the last connection has closed. */
const handlerTimeoutMs = seconds(10);

/** Listens on HOST:PORT; returns the actual address, such as `https://127.0.0.1:8443`. */
export async function listen(server: Server, where: string): Promise<string> {
  const colon = where.lastIndexOf(':');
  const host = where.slice(0, colon).replace(/^\[|\]$/g, '');
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', reject);
  server.listen({ host, port: Number(where.slice(colon + 1)) }, () => {
    resolve(undefined);
  });
  try {
    await promise;
  } catch (error) {
    throw new Error(`cannot listen on ${where}`, { cause: error });
  }
  const address = server.address() as AddressInfo;
  return `${isTlsServer(server) ? 'https' : 'http'}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/**
 * Accepts no further requests; resolves when those in progress are finished: their responses (`drain`), and the
 * handlers of disconnected clients, which would otherwise use closed records.
 */
export async function close({ settled }: Pick<StoreServer, 'settled'>, drain: () => Promise<void>): Promise<void> {
  await drain();
  const timeout = Promise.withResolvers<undefined>();
  const end = setTimeout(() => {
    timeout.resolve(undefined);
  }, handlerTimeoutMs);
  await Promise.race([settled(), timeout.promise]);
  clearTimeout(end);
}
