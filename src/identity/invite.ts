// The page of an invite to collaborate, opened by its link: shows inviter, package and invited account, and takes the answer from
// the account that logs in.
import type { IncomingMessage } from 'node:http';

import { acceptInvite, inviteDigest, rejectInvite } from '#acts/packages/collaborators.ts';
import { anyone } from '#access/access-rules.ts';
import { refuseForeignForm } from '#http/request/browser-sessions.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ShownInvite } from '#records/packages/invites.ts';
import { messagePage, withRefusalPage, seeOther } from './login/login-page.ts';
import { inviteContent } from './pages/invite.ts';
import { page } from '#http/pages/plain-page.ts';

const path = '/identity/invite';

/** The token moves from the URL to a cookie of this page, so that it is neither visible nor stored with the URL. */
const cookie = 'larder-invite';

/** The queries and texts of the result page. The page names no account, because it is public. */
const answered = { '?accepted': 'You collaborate on the package now.', '?rejected': 'You have declined the invite.' };

export const invite = operation({
  name: 'invite',
  method: 'GET',
  path,
  since: 0,
  summary: 'Show an invite to collaborate on a package. A redirect first removes a token from the address.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  also: { 303: 'The browser continues to the same page, without the token in its address.' },
  headers: ['location'],
  refusesWithPages: true,
  refuses: ['login-expired'],

  handle({ request, config, records, now }) {
    const { base_url: baseUrl } = config.http;
    const search = /\?.*$/.exec(request.url ?? '')?.[0] ?? '';
    for (const [end, words] of Object.entries(answered)) {
      if (search === end) return messagePage(baseUrl, 200, 'Thank you', `${words} You can close this page.`);
    }
    const token = /^\?token=([A-Za-z0-9]{1,64})$/.exec(search)?.[1];
    if (token !== undefined) return withCookie(baseUrl, token, seeOther(path));
    return withRefusalPage(baseUrl, async () => invitePage(await shown(tokenIn(request), { records, now }), config));
  },
});

export const submitInvite = operation({
  name: 'submit_invite',
  method: 'POST',
  path,
  since: 0,
  summary: 'Accept or decline an invite to collaborate, as the account of the given credentials.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 16 * 1024,
  body: 'InviteForm',
  produces: ['text/html'],
  also: { 303: 'Answered; the browser continues to the confirmation.' },
  headers: ['location'],
  refusesWithPages: true,
  refuses: [
    'invalid-credentials',
    'twofactor-required',
    'twofactor-failure',
    'forbidden',
    'invalid-token',
    'login-expired',
    'too-many-requests',
  ],

  handle(call) {
    const { request, body, config } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      refuseForeignForm(request, baseUrl);
      const token = tokenIn(request);
      const shownInvite = await shown(token, call);
      try {
        const { username: name, password, code, answer } = body;
        const { address, requestId } = call;
        const acknowledged = body.acknowledged === 'yes';
        const login = { name, password, oneTimePassword: code, acknowledged, address, requestId };
        const { id: accountId } = await call.identity.logins.logIn(login);
        const { namespace, name: packageName } = shownInvite;
        const act = answer === 'accept' ? acceptInvite : rejectInvite;
        const actor = { actor: accountId, requestId };
        await call.acts.do(act, actor, { namespace, name: packageName, token, accountId });
        // A separate page, so that reloading it does not send the password again.
        return withCookie(baseUrl, '', seeOther(`${path}?${answer === 'accept' ? 'accepted' : 'rejected'}`));
      } catch (refusal) {
        if (!(refusal instanceof Refusal)) throw refusal;
        const other = new Refusal(
          'invalid-token',
          `The invite is for ${shownInvite.username}; log in as that account.`,
        );
        return invitePage(shownInvite, config, refusal.code === 'invalid-token' ? other : refusal, body.username);
      }
    });
  },
});

const tokenIn = ({ headers }: IncomingMessage): string =>
  new RegExp(`(?:^|; ?)${cookie}=([A-Za-z0-9]{1,64})(?:;|$)`).exec(headers.cookie ?? '')?.[1] ?? '';

function withCookie(baseUrl: string, token: string, { status, headers, body }: OperationResponse): OperationResponse {
  const life = token === '' ? 0 : minutes(15) / 1000;
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  const set = `${cookie}=${token}; Path=${path}; Max-Age=${String(life)}; HttpOnly; SameSite=Lax${secure}`;
  return new OperationResponse({
    ...(status !== undefined && { status }),
    headers: { ...headers, 'set-cookie': set },
    body: body ?? '',
  });
}

async function shown(token: string, { records, now }: Pick<Services, 'records' | 'now'>): Promise<ShownInvite> {
  const shownInvite = await records.invites.shown(inviteDigest(token), timestamp(now()));
  if (shownInvite !== undefined) return shownInvite;
  throw new Refusal(
    'login-expired',
    'This invite has been answered or revoked, or it has expired. Open its link again, or ask for a new one.',
  );
}

function invitePage(
  shownInvite: ShownInvite,
  { http: { base_url: baseUrl }, sessions }: Pick<Services['config'], 'http' | 'sessions'>,
  refusal?: Refusal,
  username?: string,
): OperationResponse {
  const content = inviteContent({
    inviter: `${shownInvite.inviterName} (${shownInvite.inviter})`,
    package: `${shownInvite.namespace}/${shownInvite.name}`,
    invited: shownInvite.username,
    email: shownInvite.email,
    until: new Date(shownInvite.expiresAt),
    username: (username ?? shownInvite.username).slice(0, 320),
    problem: refusal?.message,
    sessions,
  });
  const title = refusal === undefined ? 'An invite' : 'Not answered yet';
  return page(title, content, { baseUrl, ...(refusal && { status: refusal.status }) });
}
