// The manners of the bakery protocol over HTTP: which version a client speaks, and the errors that ask it to do something.
import type { IncomingMessage } from 'node:http';

import { json } from '#api/sent.ts';
import { Answer } from '#api/operation.ts';
import type { BakeryVersion } from '#macaroons/discharger.ts';

/** The version that a client says it speaks; 0 when it says none. */
export function protocolVersion(request: IncomingMessage): 0 | BakeryVersion {
  const text = request.headers['bakery-protocol-version'];
  if (typeof text !== 'string' || !/^[0-9]{1,4}$/.test(text)) return 0;
  return Math.min(Number(text), 3) as 0 | BakeryVersion;
}

/**
 * An error that the client answers by doing something. Clients look for this very status, header and media type;
 * those that name no version of the protocol know it by another status.
 */
export function asks(
  code: 'interaction required' | 'macaroon discharge required',
  message: string,
  info: object,
  request: IncomingMessage,
): Answer {
  const old = protocolVersion(request) === 0;
  return new Answer({
    status: old ? 407 : 401,
    headers: { ...json, 'cache-control': 'no-store', ...(!old && { 'www-authenticate': 'Macaroon' }) },
    body: JSON.stringify({ Code: code, Message: message, Info: info }),
  });
}
