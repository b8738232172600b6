// Proxies that the configuration does not name: whoever sends X-Forwarded-For and is not trusted is taken for the client
// himself, so that all who come through a forgotten proxy share one address, and its limits.
import type { IncomingMessage } from 'node:http';

import { isAmong, networks, plain } from './address.ts';

export interface UnknownProxies {
  /** Looks at a request; the health of the store shows what is seen. */
  see(request: IncomingMessage, trusted: readonly string[]): void;
  /** The proxies that were seen and are not trusted now; undefined if there are none. */
  unknown(trusted: readonly string[]): { addresses: string[] } | undefined;
}

/** Anybody may send the header, so no more addresses than these are remembered. */
const most = 8;

export function createUnknownProxies(): UnknownProxies {
  const seen = new Set<string>();
  return {
    see(request, trusted) {
      if (request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined) return;
      const address = plain(request.socket.remoteAddress ?? '');
      if (address === '' || seen.has(address) || seen.size >= most || isAmong(address, networks(trusted))) return;
      seen.add(address);
    },
    unknown(trusted) {
      const addresses = [...seen].filter((address) => !isAmong(address, networks(trusted)));
      return addresses.length === 0 ? undefined : { addresses };
    },
  };
}
