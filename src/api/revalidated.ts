// Answers that a cache may give again, and that are only named to a client that has them already (RFC 9110, 13.1.2).
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { Answer } from './operation.ts';
import { hasAlready } from './ranges.ts';
import { json } from './sent.ts';

export const notModified = { 304: 'The answer is still the one of the digest that If-None-Match names.' };

/** A cache between must not give one device what another one may have. */
export const ofDevice =
  'Snap-Device-Authorization, X-Device-Authorization, Authorization, Snap-Device-Store, X-Ubuntu-Store';

/** Nor what is for another architecture. */
export const ofArchitecture = `Snap-Device-Architecture, X-Ubuntu-Architecture, ${ofDevice}`;

/** What one got because of who he is; nobody keeps it, be it only for himself. */
export const forOneAlone = { 'cache-control': 'private, no-store' };

/** For so many seconds; with other headers than those of JSON where they are given. */
export function revalidated(
  request: IncomingMessage,
  body: string,
  seconds: number,
  { 'content-type': type, ...more }: Record<string, string> = json,
): Answer {
  const etag = `"${hash('sha256', body)}"`;
  const headers = { 'cache-control': `max-age=${seconds}`, ...more, etag };
  if (hasAlready(request, etag)) return new Answer({ status: 304, headers });
  return new Answer({ headers: { ...headers, ...(type !== undefined && { 'content-type': type }) }, body });
}
