// Reads the tokens that a request presents in its headers, or in its payload if the interface allows that.
import type { IncomingMessage } from 'node:http';

import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { readAuthorization } from './header-tokens.ts';

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
  const { authorization, macaroons, 'content-length': length } = request.headers;
  if (authorization !== undefined) return { tokens: readAuthorization(request, authorization), inPayload: false };
  if (macaroons !== undefined) return { tokens: [Array.isArray(macaroons) ? '' : macaroons], inPayload: false };
  const hasBody = length === undefined ? 'transfer-encoding' in request.headers : length !== '0';
  return mayBeInPayload && hasBody ? whenReady(body(), fromPayload) : { tokens: [], inPayload: false };
}

function fromPayload(content: unknown): PresentedTokens {
  if (typeof content !== 'object' || content === null || !('macaroon' in content))
    return { tokens: [], inPayload: false };
  const { macaroon } = content;
  delete content.macaroon;
  // A string is written like a header; a macaroon or a list of macaroons may also be JSON.
  return { tokens: [typeof macaroon === 'string' ? macaroon : JSON.stringify(macaroon)], inPayload: true };
}
