// The bakery protocol over HTTP: the protocol version of a client, and errors that ask the client for an action.
import type { IncomingMessage } from 'node:http';

import { json } from '#http/response/outgoing-response.ts';
import { OperationResponse } from '#http/operation.ts';
import type { BakeryVersion } from '#macaroons/discharger.ts';

/** The protocol version that the client states; 0 if it states none. */
export function protocolVersion(request: IncomingMessage): 0 | BakeryVersion {
  const text = request.headers['bakery-protocol-version'];
  if (typeof text !== 'string' || !/^[0-9]{1,4}$/.test(text)) return 0;
  return Math.min(Number(text), 3) as 0 | BakeryVersion;
}

/**
 * An error that the client answers with an action. Clients check exactly this status, header and media type; clients that state no
 * protocol version expect status 407.
 */
export function bakeryError(
  code: 'interaction required' | 'macaroon discharge required',
  message: string,
  info: object,
  request: IncomingMessage,
): OperationResponse {
  const old = protocolVersion(request) === 0;
  return new OperationResponse({
    status: old ? 407 : 401,
    headers: { ...json, 'cache-control': 'no-store', ...(!old && { 'www-authenticate': 'Macaroon' }) },
    body: JSON.stringify({ Code: code, Message: message, Info: info }),
  });
}
