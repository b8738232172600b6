// Identifies browsers by their session cookie. Tools do not send the cookie, and the operations for tools ignore it.
import type { IncomingMessage } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { isLoopback } from './client-address.ts';
import type { ServerServices } from '../services.ts';

/** Whether browsers reach the store over TLS, which the store itself or a proxy terminates. */
export const isOverTls = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'https:';

/** The name of the cookie. Browsers accept the prefix `__Host-` only from this exact host and over TLS (RFC 6265bis, 4.1.3.2). */
export const sessionCookie = (baseUrl: string): string =>
  isOverTls(baseUrl) ? '__Host-larder-session' : 'larder-session';

/** The header that sets a session until the browser closes; other sites and scripts cannot use it. */
export const sessionHeader = (session: string, baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=${session}; ${attributes(baseUrl)}`,
});

/** The header that removes the session. */
export const removedSessionHeader = (baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=; Max-Age=0; ${attributes(baseUrl)}`,
});

const attributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Strict${isOverTls(baseUrl) ? '; Secure' : ''}`;

/** Returns the session of the browser. Refuses if there is no valid session, or if it would cross a network in clear text. */
export async function requireBrowserSession(
  { request, address }: { request: IncomingMessage; address: string },
  { authority, config }: Pick<ServerServices, 'authority' | 'config'>,
): Promise<Browsing> {
  const { base_url: baseUrl } = config.http;
  refuseClearText(baseUrl, address);
  return authority.browsers.find(cookieNamed(sessionCookie(baseUrl), request));
}

/** Allows passwords and sessions in clear text on the loopback interface only. */
export function refuseClearText(baseUrl: string, address: string): void {
  if (isOverTls(baseUrl) || isLoopback(address)) return;
  throw new Refusal(
    'forbidden',
    'Without TLS, only browsers on the host itself can open the console. ' +
      'Set http.base_url in the configuration to an https address, and open that address.',
  );
}

/**
 * Refuses forms that pages of other sites submit: they could log the browser in as another account. Browsers send the origin of a form;
 * programs do not, and no page controls a program.
 */
export function refuseForeignForm(request: IncomingMessage, baseUrl: string): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const foreign =
    site === undefined
      ? origin !== undefined && !isOwnOrigin(origin, request, baseUrl)
      : site !== 'same-origin' && site !== 'none';
  if (foreign)
    throw new Refusal(
      'forbidden',
      'The form was sent by a page of another site. Open the page again, and send it from there.',
    );
}

/**
 * Whether the browser says that one of our pages submitted the form. Only then is the content of the form shown again: a page of another
 * site could have filled it in.
 */
export function isOwnForm(request: IncomingMessage, baseUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && isOwnOrigin(origin, request, baseUrl);
}

const isOwnOrigin = (origin: string, { headers: { host = '' } }: IncomingMessage, baseUrl: string): boolean =>
  [new URL(baseUrl).origin, `http://${host}`, `https://${host}`].includes(origin);

/** Returns the session of the browser; undefined if it has no valid one. */
export async function findBrowserSession(
  request: IncomingMessage,
  { authority, config }: Pick<ServerServices, 'authority' | 'config'>,
): Promise<Browsing | undefined> {
  try {
    return await authority.browsers.find(cookieNamed(sessionCookie(config.http.base_url), request));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Whether the browser has sent a session, even an ended one. */
export const hasSessionCookie = (request: IncomingMessage, baseUrl: string): boolean =>
  cookieNamed(sessionCookie(baseUrl), request) !== undefined;

/** The value of a cookie; undefined if it is absent, or sent twice, because one of the two is not ours. */
export function cookieNamed(name: string, { headers }: IncomingMessage): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}
