// Logins that leave the page with the form: the target in the form, the cookie of a login in progress, and the entry into the console.
import type { LoginTarget } from '#http/identity-provider.ts';
import type { OperationResponse } from '#http/operation.ts';
import { html } from '#http/pages/html.ts';
import { page } from '#http/pages/plain-page.ts';
import { isOverTls, refuseClearText, sessionHeader } from '#http/request/browser-sessions.ts';
import type { Services } from '#http/services.ts';
import type { BrowserLoginForm } from '#contract/wire.ts';
import { minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { LoginProofKind } from '#records/tokens/macaroons.ts';

/** How long a person can take for a login in progress. */
export const browserLoginLifeMs = minutes(15);

export async function readTarget(
  { did, to = '/console' }: BrowserLoginForm,
  { identity, config, address }: Pick<Services, 'identity' | 'config'> & { address: string },
): Promise<LoginTarget> {
  if (did !== undefined) return { login: (await identity.interactions.find(did)).id };
  if (!config.http.console) throw new Refusal('resource-not-found', 'This store has no console.');
  refuseClearText(config.http.base_url, address);
  return { console: to };
}

/** The header that keeps the sealed state of a login in the browser. */
export const pendingCookie = (
  name: string,
  pending: string,
  { baseUrl, sameSite }: { baseUrl: string; sameSite: 'Lax' | 'Strict' },
): string =>
  `${name}=${pending}; Path=/; Max-Age=${String(browserLoginLifeMs / 1000)}; HttpOnly; SameSite=${sameSite}` +
  (isOverTls(baseUrl) ? '; Secure' : '');

/** A page that continues by itself: unlike a redirect of a form, it may lead to another site. */
export function continued(heading: string, to: string, baseUrl: string, cookie: string): OperationResponse {
  const headers = { refresh: `0; url=${to}`, 'set-cookie': cookie };
  const content = html`<h1>${heading}</h1>
    <p><a href="${to}">Continue</a></p>`;
  return page(heading, content, { baseUrl, headers });
}

export type ConsoleEntry = Pick<Services, 'authority' | 'records' | 'config'> & { address: string; requestId: string };

/**
 * Begins a session of the console. `record` stores what ends it early. The cookie of a session is not sent after a redirect from another
 * site, so a page of ours continues.
 */
export async function enterConsole(
  { account, to, maxAgeMs, provenBy }: { account: Account; to: string; maxAgeMs: number; provenBy?: LoginProofKind },
  { authority, config, address, requestId }: ConsoleEntry,
  record: (session: { sessionId: string; accountId: string; endsAt: string }) => Promise<unknown>,
): Promise<OperationResponse> {
  const { base_url: baseUrl } = config.http;
  refuseClearText(baseUrl, address);
  const about = { address, requestId, maxAgeMs, ...(provenBy !== undefined && { provenBy }) };
  const session = await authority.browsers.begin(account.id, about);
  const { sessionId, until } = (await authority.browsers.find(session)).principal;
  await record({ sessionId, accountId: account.id, endsAt: timestamp(new Date(until)) });
  return continued('You are logged in', to, baseUrl, sessionHeader(session, baseUrl)['set-cookie'] ?? '');
}
