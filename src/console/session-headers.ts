// Sets and removes the session cookie of a browser.
import { isOverTls, sessionCookie } from '#http/request/browser-sessions.ts';
import type { Services } from '#http/services.ts';
import type { BrowserEvidence } from './browser-access.ts';

/** The header that sets a session until the browser closes; other sites and scripts cannot use it. */
export const sessionHeader = (session: string, baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=${session}; ${attributes(baseUrl)}`,
});

/** The header that removes the session. */
export const removedSessionHeader = (baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=; Max-Age=0; ${attributes(baseUrl)}`,
});

/** The header that replaces the session from time to time, so that it does not end during use. */
export const renewedSessionHeader = ({
  browsing,
  config,
}: BrowserEvidence & Pick<Services, 'config'>): Record<string, string> =>
  browsing.renewed === undefined ? {} : sessionHeader(browsing.renewed, config.http.base_url);

const attributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Strict${isOverTls(baseUrl) ? '; Secure' : ''}`;
