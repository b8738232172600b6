// Proxies that the configuration does not name: whoever sends X-Forwarded-For and is not trusted is taken for the client
// himself, so that all who come through a forgotten proxy share one address, and its limits.
import type { IncomingMessage } from 'node:http';

import type { Logger } from 'pino';

import { isAmong, networks, plain } from './address.ts';

export interface UnknownProxies {
  /** Looks at a request; what is seen for the first time is logged once. */
  see(request: IncomingMessage, trusted: readonly string[]): void;
  /** What somebody should know, as long as what was seen is not trusted. */
  notice(trusted: readonly string[]): string | undefined;
}

/** Anybody may send the header, so no more addresses than these are remembered. */
const most = 8;

export function createUnknownProxies(log: Pick<Logger, 'warn'>): UnknownProxies {
  const seen = new Set<string>();
  return {
    see(request, trusted) {
      if (request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined) return;
      const address = plain(request.socket.remoteAddress ?? '');
      if (address === '' || seen.has(address) || seen.size >= most || isAmong(address, networks(trusted))) return;
      seen.add(address);
      log.warn({ address }, 'a request was passed on by a proxy that http.trusted_proxies does not name');
    },
    notice(trusted) {
      const unknown = [...seen].filter((address) => !isAmong(address, networks(trusted)));
      if (unknown.length === 0) return undefined;
      return (
        `Requests come with X-Forwarded-For from ${unknown.join(', ')}, which http.trusted_proxies does not name, so all of ` +
        'them count as one client, and the log names no other. If that is a proxy of this site, add its address to ' +
        'http.trusted_proxies in larder.toml and send the server SIGHUP; if not, nothing needs to be done.'
      );
    },
  };
}
