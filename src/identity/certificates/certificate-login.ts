// Sends a browser to the address where it presents its client certificate, and logs the person in there.
import type { IncomingMessage } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import type { PresentedCertificate } from '#http/identity-provider.ts';
import { operation, OperationResponse } from '#http/operation.ts';
import { requiresAcknowledgement } from '#http/pages/login-notices.ts';
import { cookieNamed, refuseForeignForm } from '#http/request/browser-sessions.ts';
import { isEncrypted } from '#http/response/send-response.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { continued, enterConsole, pendingCookie, readTarget } from '../login/browser-login.ts';
import { unacknowledged } from '../login/logins.ts';
import { finishedResponse, withRefusalPage } from '../login/login-page.ts';
import { certificateAddress } from './logins.ts';

const shared = {
  since: 0,
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  refusesWithPages: true,
  path: certificateAddress,
} as const;

/** Logins with certificates need TLS, so the prefix is always accepted. Cookies are shared by the ports of a host. */
const cookieName = '__Host-larder-certificate';

export const beginCertificateLogin = operation({
  ...shared,
  name: 'begin_certificate_login',
  method: 'POST',
  summary: 'Send the browser to the address where it presents its client certificate.',
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 16 * 1024,
  body: 'BrowserLoginForm',
  refuses: ['forbidden', 'login-expired', 'resource-not-found'],

  handle(call) {
    const { request, body, identity, config } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      refuseForeignForm(request, baseUrl);
      if (config.identity.certificates.listen === undefined) throw notOffered();
      if (body.acknowledged !== 'yes' && requiresAcknowledgement(config.sessions)) throw unacknowledged();
      const { url, pending } = identity.certificates.begin(await readTarget(body, call));
      const cookie = pendingCookie(cookieName, pending, { baseUrl, sameSite: 'Strict' });
      return continued('Present your certificate', url, baseUrl, cookie);
    });
  },
});

export const finishCertificateLogin = operation({
  ...shared,
  name: 'finish_certificate_login',
  method: 'GET',
  summary: 'Log in with the client certificate of the connection.',
  also: { 303: 'Logged in; the browser continues to the application that sent it, or to the confirmation.' },
  headers: ['location'],
  refuses: ['invalid-credentials', 'login-expired', 'resource-not-found'],

  handle(call) {
    const { request, identity, config, records, address, requestId, now } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      if (config.identity.certificates.listen === undefined) throw notOffered();
      const pending = cookieNamed(cookieName, request) ?? '';
      const presented = presentedBy(request);
      const finished = await identity.certificates.finish({ presented, pending, address, requestId });
      const { target, account, maxAgeMs, certificate } = finished;
      if ('login' in target) {
        const interaction = await identity.interactions.find(target.login);
        return atStore(await finishedResponse(interaction, account, identity.interactions, 'certificate'), baseUrl);
      }
      const about = { account, to: baseUrl + target.console, maxAgeMs, provenBy: 'certificate' as const };
      return enterConsole(about, call, (session) => {
        const row = { ...session, certificate: certificate.raw.toString('base64'), confirmedAt: timestamp(now()) };
        return records.ephemeral((tx) => tx.certificateSessions.add(row));
      });
    });
  },
});

function presentedBy({ socket }: IncomingMessage): PresentedCertificate {
  if (!isEncrypted(socket)) return { certificate: undefined, problem: undefined };
  const { authorizationError: error } = socket as { authorizationError?: string | { code?: string } | null };
  const code = typeof error === 'string' ? error : error?.code;
  return {
    certificate: socket.getPeerX509Certificate(),
    problem: socket.authorized ? undefined : (code ?? 'not verified'),
  };
}

/** The same response with an absolute address: this one is at another port than the store. */
function atStore({ status, headers, body }: OperationResponse, baseUrl: string): OperationResponse {
  const { location = '' } = headers;
  return new OperationResponse({
    ...(status !== undefined && { status }),
    headers: { ...headers, location: new URL(location, baseUrl).href },
    body: body ?? '',
  });
}

const notOffered = (): Refusal =>
  new Refusal('resource-not-found', 'This store offers no login with a certificate. Log in with a password.');
