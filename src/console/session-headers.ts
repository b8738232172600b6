// Renews the session cookie of a browser.
import { sessionHeader } from '#http/request/browser-sessions.ts';
import type { Services } from '#http/services.ts';
import type { BrowserEvidence } from './browser-access.ts';

/** The header that replaces the session from time to time, so that it does not end during use. */
export const renewedSessionHeader = ({
  browsing,
  config,
}: BrowserEvidence & Pick<Services, 'config'>): Record<string, string> =>
  browsing.renewed === undefined ? {} : sessionHeader(browsing.renewed, config.http.base_url);
