// Detects proxies that the configuration does not name. A sender of X-Forwarded-For that is not trusted counts as the client itself, so all
// clients behind a forgotten proxy share one address and its limits.
import type { IncomingMessage } from 'node:http';

import { isInNetworks, toBlockList, stripMappedPrefix } from './client-address.ts';

export interface UnknownProxies {
  /** Records a request; the health of the store shows the result. */
  see(request: IncomingMessage, trusted: readonly string[]): void;
  /** The proxies that were seen and are not trusted now; undefined if there are none. */
  unknown(trusted: readonly string[]): { addresses: string[] } | undefined;
}

/** Any client may send the header, so at most this many addresses are kept. */
const maxAddresses = 8;

export function createUnknownProxies(): UnknownProxies {
  const seen = new Set<string>();
  return {
    see(request, trusted) {
      if (request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined) return;
      const address = stripMappedPrefix(request.socket.remoteAddress ?? '');
      if (
        address === '' ||
        seen.has(address) ||
        seen.size >= maxAddresses ||
        isInNetworks(address, toBlockList(trusted))
      )
        return;
      seen.add(address);
    },
    unknown(trusted) {
      const addresses = [...seen].filter((address) => !isInNetworks(address, toBlockList(trusted)));
      return addresses.length === 0 ? undefined : { addresses };
    },
  };
}
