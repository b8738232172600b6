// Sends a response with the headers of every response.
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';

import { timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import { snapStoreVersion } from '../error-responses.ts';
import type { Exchange } from '../exchange.ts';
import { closeAfterResponse } from '../request/multipart.ts';
import type { ServerServices } from '../services.ts';
import { json, type OutgoingResponse } from './outgoing-response.ts';
import { privateNoStore } from './revalidation.ts';
import { sendContent } from './send-content.ts';

/** The newest implemented version of the interface. */
export const apiVersion = 61;

/** Sends a response and streams its body; true if the client disconnected before its end. */
export function streamResponse(
  exchange: Exchange,
  { status, headers, body }: OutgoingResponse & { body: Readable },
  services: ServerServices,
): Promise<boolean> {
  exchange.response.writeHead(status, headersOf(exchange, headers, services));
  return sendContent(body, exchange.response);
}

/** Sends a response that is in memory; false, because it is complete. */
export function writeResponse(
  exchange: Exchange,
  { status, headers, body }: OutgoingResponse & { body: Exclude<OutgoingResponse['body'], Readable> },
  services: ServerServices,
): false {
  const { request, response } = exchange;
  const rawHeaders = headersOf(exchange, headers, services);
  // The body is still arriving, so the request was refused: the sender is told to stop, and the connection ends.
  closeAfterResponse(request, response);
  if (body === undefined) {
    response.writeHead(status, rawHeaders).end();
    return false;
  }
  const length = Buffer.byteLength(body);
  rawHeaders.push('content-length', String(length));
  // A text with as many bytes as characters is ASCII. Copying it as latin1 saves a twentieth of a request (`npm run bench -- permissions`).
  response.writeHead(status, rawHeaders).end(body, length === body.length ? 'latin1' : 'utf8');
  return false;
}

/** All headers of a response, as names and values in turn. */
function headersOf(
  { request, requestId, operation, errors, principal }: Exchange,
  headers: Record<string, string>,
  services: ServerServices,
): string[] {
  // A device interface response to an account may contain its private snaps. Set here, so that no operation can forget it.
  const own = errors === 'snapd' && principal !== undefined ? { ...headers, ...privateNoStore } : headers;
  const defaults = own === json ? closedJson : withClosed(own);
  // Joining two lists would take 3 % of a request (`npm run bench -- permissions`).
  const all = everyAnswer(requestId, operation);
  for (const text of defaults) all.push(text);
  if (principal !== undefined && expiresSoon(principal, services)) {
    all.push('macaroon-expires', timestamp(new Date(principal.until)));
  }
  if (errors === 'snapd') all.push('snap-store-version', snapStoreVersion);
  // Browsers that have used TLS once use TLS for a year.
  if (isEncrypted(request.socket)) all.push('strict-transport-security', 'max-age=31536000');
  return all;
}

/** The headers of every response. */
export const everyAnswer = (requestId: string, operation: string): string[] => [
  'publishergw-version',
  String(apiVersion),
  'x-request-id',
  requestId,
  'x-view-name',
  `larder.${operation}`,
];

/** Default headers of a response: caches do not store it, and browsers show it in isolation. */
const closed = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** The headers of a response plus the defaults that it does not set, as names and values in turn. */
const withClosed = (headers: Record<string, string>): string[] =>
  [...closed.filter(([name]) => !(name in headers)), ...Object.entries(headers)].flat();

/** The headers of nearly every response. */
const closedJson = withClosed(json);

/** Not by the class of the socket, so that Node's module for TLS is loaded only if the store uses it. */
export const isEncrypted = (socket: Socket): socket is TLSSocket => 'encrypted' in socket;

/** Whether a token expires soon; a header then tells the user. */
const expiresSoon = ({ until }: Principal, { authority }: ServerServices): boolean =>
  until - authority.latestTime().getTime() <= expiryWarningMs;
