// Sends a browser to the OpenID provider of the site, and takes it back. A form begins the login, so that no link of another site can.
import type { IncomingMessage } from 'node:http';

import { providerName } from '#configuration/config.ts';
import { anyone } from '#access/access-rules.ts';
import type { FinishedOpenidLogin, OpenidTarget } from '#http/identity-provider.ts';
import { operation, OperationResponse } from '#http/operation.ts';
import { html } from '#http/pages/html.ts';
import { requiresAcknowledgement } from '#http/pages/login-notices.ts';
import { page } from '#http/pages/plain-page.ts';
import { cookieNamed, findBrowserSession, isOverTls, refuseForeignForm } from '#http/request/browser-sessions.ts';
import type { Services } from '#http/services.ts';
import { hours } from '#domain/clock.ts';
import { Refusal, withCause } from '#domain/refusal.ts';
import { continued, enterConsole, pendingCookie, readTarget, type ConsoleEntry } from '../login/browser-login.ts';
import { unacknowledged } from '../login/logins.ts';
import { finishedResponse, withRefusalPage } from '../login/login-page.ts';
import { callbackAddress } from './logins.ts';

const shared = {
  since: 0,
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  refusesWithPages: true,
} as const;

export const beginOpenidLogin = operation({
  ...shared,
  name: 'begin_openid_login',
  method: 'POST',
  path: '/identity/openid/login',
  summary: 'Send the browser to the OpenID provider of the site.',
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 16 * 1024,
  body: 'BrowserLoginForm',
  refuses: [
    'forbidden',
    'invalid-credentials',
    'login-expired',
    'resource-not-found',
    'too-many-requests',
    'remote-service-unavailable',
  ],

  handle(call) {
    const { request, body, identity, config, address } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      refuseForeignForm(request, baseUrl);
      const name = providerName(config);
      if (name === undefined) throw notOffered();
      const isAgain = body.again === 'yes';
      if (!isAgain && body.acknowledged !== 'yes' && requiresAcknowledgement(config.sessions)) throw unacknowledged();
      const target = isAgain ? await provenTarget(call) : await readTarget(body, call);
      const { url, pending } = await identity.openid.begin(target, address);
      // The provider sends the browser back from another site, so the cookie is `Lax`.
      const cookie = pendingCookie(cookieName(baseUrl), pending, { baseUrl, sameSite: 'Lax' });
      return continued(`Continue to ${name}`, url, baseUrl, cookie);
    });
  },
});

export const finishOpenidLogin = operation({
  ...shared,
  name: 'finish_openid_login',
  method: 'GET',
  path: callbackAddress,
  summary: 'Finish a login: the OpenID provider sends the browser here.',
  also: { 303: 'Logged in; the browser continues to the application that sent it, or to the confirmation.' },
  headers: ['location'],
  refuses: [
    'conflict',
    'forbidden',
    'invalid-credentials',
    'login-expired',
    'too-many-requests',
    'remote-service-unavailable',
  ],

  handle(call) {
    const { request, identity, config, address, requestId } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      const search = /\?.*$/s.exec(request.url ?? '')?.[0] ?? '';
      const pending = cookieNamed(cookieName(baseUrl), request) ?? '';
      const finished = await identity.openid.finish({ search, pending, address, requestId });
      const { target, account } = finished;
      if ('proves' in target) return provenPage(config);
      if ('console' in target) return enterWith(finished, target.console, call);
      const interaction = await identity.interactions.find(target.login);
      return finishedResponse(interaction, account, identity.interactions);
    });
  },
});

export const endOpenidLogin = operation({
  name: 'end_openid_login',
  method: 'POST',
  path: '/identity/openid/logout',
  since: 0,
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  summary:
    'End the sessions of a login that has ended at the OpenID provider, which announces it (back-channel logout).',
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 64 * 1024,
  body: 'OpenidLogoutForm',
  produces: ['text/plain'],
  refuses: ['api-error', 'login-expired', 'resource-not-found', 'too-many-requests', 'remote-service-unavailable'],

  async handle({ body, identity, address }) {
    try {
      await identity.openid.endSessions(body.logout_token, address);
    } catch (refusal) {
      // The protocol knows 400 for a token that is not accepted.
      if (!(refusal instanceof Refusal) || refusal.code !== 'invalid-credentials') throw refusal;
      throw withCause(refusal, new Refusal('api-error', 'The logout token is not valid.'));
    }
    return new OperationResponse({ status: 200, headers: { 'cache-control': 'no-store' }, body: '' });
  },
});

/** The maximum time between two confirmations of the provider. */
const unconfirmedMs = hours(1);

function enterWith(
  { account, sessionId, canRefresh }: FinishedOpenidLogin,
  to: string,
  call: ConsoleEntry,
): Promise<OperationResponse> {
  const maxAgeMs = canRefresh ? Infinity : unconfirmedMs;
  const about = { account, to, maxAgeMs };
  return enterConsole(about, call, (session) =>
    call.records.ephemeral((tx) => tx.openidLogins.addSession({ ...session, providerId: sessionId ?? null })),
  );
}

/** The session of the browser. The cookie is not sent when the provider sends the browser back, so the login keeps the session. */
async function provenTarget(
  call: Pick<Services, 'authority' | 'config'> & { request: IncomingMessage },
): Promise<OpenidTarget> {
  const session = await findBrowserSession(call.request, call);
  if (session === undefined) throw new Refusal('forbidden', 'Your session has ended. Log in again.');
  const { accountId, sessionId } = session.principal;
  return { proves: { accountId, sessionId } };
}

/** The form that asked for the proof is in another window of the browser. */
function provenPage({ http: { base_url: baseUrl } }: Services['config']): OperationResponse {
  const heading = 'Your login is confirmed';
  const content = html`<h1>${heading}</h1>
    <p>Close this window, and send your input in the other one again.</p>
    <p><a href="/console">Console</a></p>`;
  return page(heading, content, { baseUrl });
}

const cookieName = (baseUrl: string): string => (isOverTls(baseUrl) ? '__Host-larder-openid' : 'larder-openid');

const notOffered = (): Refusal =>
  new Refusal('resource-not-found', 'This store offers no login with an OpenID provider. Log in with a password.');
