// The tokens that a request presents: in its headers, or in its payload where the interface has them there.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { then, type Soon } from '#domain/soon.ts';

export interface Presented {
  tokens: string[];
  inPayload: boolean;
}

/**
 * The tokens a request presents: in its headers, or, where that is allowed, in the payload's member `macaroon`, which is
 * taken out before validation.
 */
export function credentials(
  request: IncomingMessage,
  mayBeInPayload: boolean,
  body: () => Soon<unknown>,
): Soon<Presented> {
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
  return then(body(), fromPayload);
}

function fromPayload(content: unknown): Presented {
  if (typeof content !== 'object' || content === null || !('macaroon' in content))
    return { tokens: [], inPayload: false };
  const { macaroon } = content;
  delete content.macaroon;
  // A text is what a header would have; a macaroon or a list of them may also stand there as JSON.
  return { tokens: [typeof macaroon === 'string' ? macaroon : JSON.stringify(macaroon)], inPayload: true };
}

/**
 * What the last request of a connection brought, which most of the next ones bring again: the same text gives the same
 * list, by which the authority knows the tokens again. They are held no longer than the connection.
 */
const last = Symbol('what the last request brought');
interface Brought extends Presented {
  header: string;
}
type Connection = Socket & { [last]?: Brought };

function broughtBefore({ socket }: { socket: Connection }, header: string): Brought {
  const before = socket[last];
  if (before?.header === header) return before;
  return (socket[last] = { header, tokens: readAuthorization(header), inPayload: false });
}

/** `Macaroon X`, `Bearer X`, `Macaroon root=A, discharge=B` (quoted or not), in any case; and the `Macaroons:` header with a list. */
function readAuthorization(header: string): string[] {
  const [, value] = /^(?:macaroon|bearer) +(.+)$/i.exec(header.trim()) ?? [];
  if (value === undefined) return ['']; // a scheme that is not ours is a token that does not hold
  const pair = /^root="?([^",\s]+)"?\s*,\s*discharge="?([^",\s]+)"?$/i.exec(value);
  return pair === null ? [value.trim()] : [pair[1] ?? '', pair[2] ?? ''];
}
