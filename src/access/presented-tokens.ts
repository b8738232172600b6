// Reads the tokens that a request presents in its headers, or in its payload if the interface allows that.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';

export interface PresentedTokens {
  tokens: string[];
  inPayload: boolean;
}

/**
 * Returns the tokens of a request from its headers or, if allowed, from the payload member `macaroon`, which is removed before validation.
 */
export function readPresentedTokens(
  request: IncomingMessage,
  mayBeInPayload: boolean,
  body: () => MaybePromise<unknown>,
): MaybePromise<PresentedTokens> {
  const { authorization, macaroons } = request.headers;
  if (authorization !== undefined || macaroons !== undefined || !mayBeInPayload) {
    return authorization === undefined
      ? { tokens: macaroons === undefined ? [] : [Array.isArray(macaroons) ? '' : macaroons], inPayload: false }
      : broughtBefore(request, authorization);
  }
  if (
    request.headers['content-length'] === '0' ||
    !('content-length' in request.headers || 'transfer-encoding' in request.headers)
  ) {
    return { tokens: [], inPayload: false };
  }
  return whenReady(body(), fromPayload);
}

function fromPayload(content: unknown): PresentedTokens {
  if (typeof content !== 'object' || content === null || !('macaroon' in content))
    return { tokens: [], inPayload: false };
  const { macaroon } = content;
  delete content.macaroon;
  // A string is written like a header; a macaroon or a list of macaroons may also be JSON.
  return { tokens: [typeof macaroon === 'string' ? macaroon : JSON.stringify(macaroon)], inPayload: true };
}

/**
 * Cache of the last tokens per connection, which most later requests repeat: the same text returns the same list object, and the authority
 * recognizes the tokens by that object. The cache ends with the connection.
 */
const last = Symbol('what the last request brought');
interface CachedHeaderTokens extends PresentedTokens {
  header: string;
}
type TokenCachingSocket = Socket & { [last]?: CachedHeaderTokens };

function broughtBefore({ socket }: { socket: TokenCachingSocket }, header: string): CachedHeaderTokens {
  const before = socket[last];
  if (before?.header === header) return before;
  return (socket[last] = { header, tokens: readAuthorization(header), inPayload: false });
}

/**
 * Parses `Macaroon X`, `Bearer X`, `Macaroon root=A, discharge=B` (quoted or not), in any letter case; and the `Macaroons:` header with a
 * list.
 */
function readAuthorization(header: string): string[] {
  const [, value] = /^(?:macaroon|bearer) +(.+)$/i.exec(header.trim()) ?? [];
  if (value === undefined) return ['']; // an unknown scheme counts as an invalid token
  const pair = /^root="?([^",\s]+)"?\s*,\s*discharge="?([^",\s]+)"?$/i.exec(value);
  return pair === null ? [value.trim()] : [pair[1] ?? '', pair[2] ?? ''];
}
