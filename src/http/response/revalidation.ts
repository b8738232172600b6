// Responses that a client may revalidate: a client that already has the content gets 304 (RFC 9110, 13.1.2).
import { computeDigest } from '#domain/cryptography.ts';
import type { IncomingMessage } from 'node:http';

import { OperationResponse } from '../operation.ts';
import { matchesEtag } from './byte-ranges.ts';
import { json } from './outgoing-response.ts';

export const notModified = { 304: 'The response has not changed since the digest in If-None-Match.' };

/** For the Vary header: a cache must not give one device the response to another. */
export const varyByDevice =
  'Snap-Device-Authorization, X-Device-Authorization, Authorization, Snap-Device-Store, X-Ubuntu-Store';

/** Also not to a device of another architecture. */
export const varyByArchitecture = `Snap-Device-Architecture, X-Ubuntu-Architecture, ${varyByDevice}`;

/** A response for one caller only; not even the caller may store it. */
export const privateNoStore = { 'cache-control': 'private, no-store' };

/** Lets the response be cached for this many seconds; the given headers replace those of JSON. */
export function respondRevalidated(
  request: IncomingMessage,
  body: string,
  seconds: number,
  { 'content-type': type, ...more }: Record<string, string> = json,
): OperationResponse {
  const etag = `"${computeDigest('cache', body)}"`;
  const headers = { 'cache-control': `max-age=${seconds}`, ...more, etag };
  if (matchesEtag(request, etag)) return new OperationResponse({ status: 304, headers });
  return new OperationResponse({ headers: { ...headers, ...(type !== undefined && { 'content-type': type }) }, body });
}
