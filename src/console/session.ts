// The cookie of a session, as it is given to a browser and taken away again.
import { isOverTls, sessionCookie } from '#api/browser.ts';
import type { Services } from '#api/services.ts';
import type { Browsed } from './access.ts';

/** The header that lets a browser keep a session until it is closed; none is sent to other sites, nor shown to scripts. */
export const keeping = (session: string, baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=${session}; ${attributes(baseUrl)}`,
});

/** The header that lets it forget the session. */
export const forgetting = (baseUrl: string): Record<string, string> => ({
  'set-cookie': `${sessionCookie(baseUrl)}=; Max-Age=0; ${attributes(baseUrl)}`,
});

/** The session that takes the place of the one that a browser has, now and then, so that it does not end while it is used. */
export const renewal = ({ browsing, config }: Browsed & Pick<Services, 'config'>): Record<string, string> =>
  browsing.renewed === undefined ? {} : keeping(browsing.renewed, config.http.base_url);

const attributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Strict${isOverTls(baseUrl) ? '; Secure' : ''}`;
