// Who is at a browser: known by its session's cookie, which no tool sends and which the operations for tools do not look at.
import type { IncomingMessage } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { isLoopback } from './address.ts';
import type { ServerServices } from './services.ts';

/** Whether browsers reach the store over TLS: by itself, or by a proxy before it. */
export const isOverTls = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'https:';

/** The name of the cookie. That with `__Host-` is only taken by browsers from this very host, over TLS (RFC 6265bis, 4.1.3.2). */
export const sessionCookie = (baseUrl: string): string =>
  isOverTls(baseUrl) ? '__Host-larder-session' : 'larder-session';

/** The session of whoever asks; refused when there is none in force, or where it would travel in clear through a network. */
export async function browsingOf(
  { request, address }: { request: IncomingMessage; address: string },
  { authority, config }: Pick<ServerServices, 'authority' | 'config'>,
): Promise<Browsing> {
  const { base_url: baseUrl } = config.http;
  refuseInClear(baseUrl, address);
  return authority.browsers.find(cookieNamed(sessionCookie(baseUrl), request));
}

/** Passwords and sessions travel in clear within this machine alone. */
export function refuseInClear(baseUrl: string, address: string): void {
  if (isOverTls(baseUrl) || isLoopback(address)) return;
  throw new Refusal(
    'forbidden',
    'Without TLS the console is shown to browsers on the host itself alone. ' +
      'Let http.base_url in the configuration begin with https, and open that address.',
  );
}

/**
 * Only our own pages may send our forms: another site's could log a browser in as somebody else.
 * Browsers say where a form comes from; programs say nothing, and nobody's browser is theirs.
 */
export function refuseForeign(request: IncomingMessage, baseUrl: string): void {
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
 * Whether a browser says that one of our own pages sent a form. Only then is anything of the form shown again: a page of
 * another site could have filled it in.
 */
export function isOwnForm(request: IncomingMessage, baseUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && isOwnOrigin(origin, request, baseUrl);
}

const isOwnOrigin = (origin: string, { headers: { host = '' } }: IncomingMessage, baseUrl: string): boolean =>
  [new URL(baseUrl).origin, `http://${host}`, `https://${host}`].includes(origin);

/** The session that a browser brings; nothing if it brings none that is valid. */
export async function sessionBefore(
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

/** The value of a cookie; nothing where it is not sent, or sent twice, because one of the two is none of ours. */
function cookieNamed(name: string, { headers }: IncomingMessage): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}
