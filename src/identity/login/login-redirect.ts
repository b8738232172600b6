// Login for a web application of the site: it redirects the browser here, and gets it back with a code.
import type { IncomingMessage } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import { parseMembers } from '#http/request/payload.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { loginPage, messagePage } from './login-page.ts';

export const loginRedirect = operation({
  name: 'login_redirect',
  method: 'GET',
  path: '/identity/login-redirect',
  since: 0,
  summary: 'Show the login page to a browser that a web application sent.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  refusesWithPages: true,
  refuses: ['too-many-requests'],

  async handle({ request, identity, config, address }) {
    const { base_url: baseUrl } = config.http;
    const { return_to: to = '', state } = queryOf(request);
    if (!mayReturnTo(to, config.identity.redirect_urls)) {
      return messagePage(
        baseUrl,
        400,
        'This login cannot continue',
        `The return address of this login is not allowed. An administrator can add it to identity.redirect_urls.`,
      );
    }
    return loginPage(await identity.interactions.begin({ redirect: { to, state }, address }), config);
  },
});

export const dischargeToken = operation({
  name: 'discharge_token',
  method: 'POST',
  path: '/identity/discharge-token',
  since: 0,
  summary: 'Exchange the code that a browser returned to a web application for a token.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  body: 'DischargeTokenRequest',
  response: 'TokenResponse',
  refuses: ['login-expired'],

  async handle({ body, identity }) {
    const token = await identity.interactions.tokenFor(body.code);
    return { token: { kind: 'login', value: Buffer.from(token).toString('base64') } };
  },
});

/** Whether a login may send the browser back to this URL: the configuration allows it, or a folder above it. */
export function mayReturnTo(text: string, allowedUrls: readonly string[]): boolean {
  if (text.length > 2000 || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false;
  const place = url.origin + url.pathname;
  return allowedUrls.some(
    (allowedUrl) => place === allowedUrl || (allowedUrl.endsWith('/') && place.startsWith(allowedUrl)),
  );
}

function queryOf(request: IncomingMessage): Record<string, string> {
  const parameters = parseMembers((request.url ?? '').split('?')[1] ?? '', 'The query');
  if ((parameters['state'] ?? '').length > 1000)
    throw new Refusal('api-error', 'The state is longer than 1000 characters.');
  return parameters;
}
