// The page to set one's own password with a link from an administrator. The link is valid once and expires.
import { expiredLinkRefusal } from '#acts/accounts/credentials.ts';
import { anyone } from '#access/access-rules.ts';
import { refuseForeignForm } from '#http/request/browser-sessions.ts';
import { operation, type OperationResponse } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { timestamp } from '#domain/clock.ts';
import type { Account } from '#records/accounts/accounts.ts';
import { Refusal } from '#domain/refusal.ts';
import { withRefusalPage, seeOther } from '../login/login-page.ts';
import { page } from '#http/pages/plain-page.ts';
import { passwordSetContent, setUpContent } from '../pages/set-up.ts';
import { minPasswordLength } from './passwords.ts';
import { setUpAddress } from './set-up-links.ts';

/** The query of the page that confirms a set password. The page names no account, because it is public. */
const isSet = '?set';

const setPage = (baseUrl: string, hasConsole: boolean): OperationResponse =>
  page('The password is set', passwordSetContent({ hasConsole }), { baseUrl });

const shared = {
  method: 'GET',
  since: 0,
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  refusesWithPages: true,
  refuses: ['login-expired'],
} as const;

export const setUp = operation({
  ...shared,
  name: 'set_up',
  path: setUpAddress,
  summary: 'Confirm that the password is set. For a link from an older release, show the form to set it.',

  handle(call) {
    const { request, config } = call;
    if (request.url?.endsWith(isSet) === true) return setPage(config.http.base_url, config.http.console);
    // Links of earlier versions of larder have their secret in the query. They are valid until they expire.
    return formFor(/[?&]key=([A-Za-z0-9_-]{43})(?:&|$)/.exec(request.url ?? '')?.[1] ?? '', call);
  },
});

export const openSetUpLink = operation({
  ...shared,
  name: 'open_set_up_link',
  path: `${setUpAddress}/:key`,
  summary: 'Show the form to choose a password, for the account of a set-up link.',

  handle: (call) => formFor(call.params.key, call),
});

function formFor(
  key: string,
  call: Pick<Services, 'identity' | 'config' | 'records' | 'authority'>,
): Promise<OperationResponse> {
  const { base_url: baseUrl } = call.config.http;
  return withRefusalPage(baseUrl, async () => {
    const account = await ownerOf(key, call.identity.logins.setUpLink);
    return setUpPage(key, account, { baseUrl, hasTokens: await hasTokens(account, call) });
  });
}

export const submitSetUp = operation({
  name: 'submit_set_up',
  method: 'POST',
  path: setUpAddress,
  since: 0,
  summary: 'Set the password from the form of a set-up link.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 32 * 1024,
  body: 'SetUpForm',
  produces: ['text/html'],
  also: { 303: 'The password is set; the browser continues to the confirmation.' },
  headers: ['location'],
  refusesWithPages: true,
  refuses: ['forbidden', 'login-expired'],

  handle({ request, body, identity, config, requestId, records, authority }) {
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      refuseForeignForm(request, baseUrl);
      const account = await ownerOf(body.key, identity.logins.setUpLink);
      try {
        if (body.password !== body.again)
          throw new Refusal('api-error', 'The two passwords differ. Enter the password again.');
        const endTokens = body['end-tokens'] === 'yes';
        await identity.logins.setPassword(body.key, body.password, { requestId, endTokens });
      } catch (refusal) {
        if (!(refusal instanceof Refusal) || refusal.code === 'login-expired') throw refusal;
        const about = { baseUrl, hasTokens: await hasTokens(account, { records, authority }) };
        return setUpPage(body.key, account, about, refusal);
      }
      // A separate page, so that reloading it does not send the password again.
      return seeOther(`${setUpAddress}${isSet}`);
    });
  },
});

async function ownerOf(key: string, find: (key: string) => Promise<Account | undefined>): Promise<Account> {
  const account = await find(key);
  if (account !== undefined) return account;
  throw expiredLinkRefusal();
}

/** Whether the account has tokens that stay valid with a new password. */
async function hasTokens(
  { id }: Account,
  { records, authority }: Pick<Services, 'records' | 'authority'>,
): Promise<boolean> {
  return (await records.macaroons.list(id, timestamp(authority.latestTime()), false)).length > 0;
}

function setUpPage(
  key: string,
  account: Account,
  { baseUrl, hasTokens }: { baseUrl: string; hasTokens: boolean },
  refusal?: Refusal,
): OperationResponse {
  const content = setUpContent({
    key,
    username: account.username,
    shortest: minPasswordLength,
    problem: refusal?.message,
    hasTokens,
  });
  const title = refusal === undefined ? 'Choose a password' : 'Not set yet';
  return page(title, content, { baseUrl, ...(refusal && { status: refusal.status }) });
}
