// The login page: name and password, and the one-time password on a second page. It works without JavaScript.
import { anyone } from '#access/access-rules.ts';
import { refuseForeignForm } from '#http/request/browser-sessions.ts';
import type { Interaction, Interactions } from '#http/identity-provider.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import type { LoginForm } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { LoginProofKind } from '#records/tokens/macaroons.ts';
import type { Account } from '#records/accounts/accounts.ts';
import { codeContent, loginContent, type LoginPageSubject } from '../pages/login.ts';
import { messageContent } from '../pages/message.ts';
import { describeEarlierLogin } from '#http/pages/login-notices.ts';
import { page, plainStyleSheet } from '#http/pages/plain-page.ts';
import { loginRefusals } from './logins.ts';
import { describePermissions } from './permission-words.ts';

export const login = operation({
  name: 'login',
  method: 'GET',
  path: '/identity/login',
  since: 0,
  summary: 'Show the login page, or the end of the login.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  produces: ['text/html'],
  refusesWithPages: true,
  refuses: ['login-expired'],

  handle({ request, identity, config, records }) {
    const { base_url: baseUrl } = config.http;
    const did = /[?&]did=([0-9a-f]{64}ID)(?:&|$)/.exec(request.url ?? '')?.[1] ?? '';
    return withRefusalPage(baseUrl, async () => {
      const account = await identity.interactions.findFinishedAccount(did);
      return account === undefined
        ? loginPage(await identity.interactions.find(did), config)
        : finishedPage(account, baseUrl, await describeEarlierLogin(account.id, config.sessions, records));
    });
  },
});

export const submitLogin = operation({
  name: 'submit_login',
  method: 'POST',
  path: '/identity/login',
  since: 0,
  summary: 'Log in with the input of the login page.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 16 * 1024,
  body: 'LoginForm',
  produces: ['text/html'],
  also: { 303: 'Logged in; the browser continues to the application that sent it, or to the confirmation.' },
  headers: ['location'],
  refusesWithPages: true,
  refuses: loginRefusals,

  handle(call) {
    const { request, body, identity, config } = call;
    const { base_url: baseUrl } = config.http;
    return withRefusalPage(baseUrl, async () => {
      refuseForeignForm(request, baseUrl);
      const interaction = await identity.interactions.find(body.did);
      try {
        return await logIn(interaction, body, call);
      } catch (refusal) {
        if (!(refusal instanceof Refusal) || refusal.code === 'login-expired') throw refusal;
        const { halfway } = await identity.interactions.find(body.did);
        // If the password changed between the two pages, the login starts again at the first.
        return halfway === undefined || refusal.code === 'invalid-credentials'
          ? loginPage(interaction, config, { refusal, username: body.username })
          : codePage(interaction, halfway, baseUrl, refusal);
      }
    });
  },
});

export const identityStyle = operation({
  name: 'identity_style',
  method: 'GET',
  path: '/identity/style.css',
  since: 0,
  summary: 'Get the style sheet of the pages of the identity provider.',
  access: anyone,
  prefixed: false,
  produces: ['text/css'],
  handle: () => plainStyleSheet(),
});

type Logging = Pick<Services, 'identity' | 'config'> & { address: string; requestId: string };

async function logIn(interaction: Interaction, form: LoginForm, call: Logging): Promise<OperationResponse> {
  const { identity, config, address, requestId } = call;
  const { base_url: baseUrl } = config.http;
  const { logins, interactions } = identity;
  let account = form.code === undefined ? undefined : interaction.halfway;
  if (account === undefined) {
    if (!form.username || !form.password) throw new Refusal('api-error', 'Enter your user name and your password.');
    const { username: name, password } = form;
    const acknowledged = form.acknowledged === 'yes';
    const checked = await logins.checkPassword({ name, password, acknowledged, address, requestId });
    account = checked.account;
    if (checked.needsOneTimePassword) {
      await interactions.halfway(interaction.id, account);
      return codePage(interaction, account, baseUrl);
    }
  }
  await logins.finish(account, { name: account.username, oneTimePassword: form.code, address, requestId });
  return finishedResponse(interaction, account, interactions);
}

/** Finishes a pending login for an account that has proven its identity. */
export async function finishedResponse(
  { id, redirect }: Interaction,
  account: Account,
  interactions: Interactions,
  provenBy?: LoginProofKind,
): Promise<OperationResponse> {
  const token = await interactions.finish(id, account, provenBy);
  if (redirect !== undefined) return redirectToApplication(redirect, await interactions.codeFor(token));
  // A separate page, so that reloading it does not send the password again.
  return seeOther(`/identity/login?did=${id}`);
}

const finishedPage = ({ username }: Account, baseUrl: string, earlier = ''): OperationResponse =>
  messagePage(
    baseUrl,
    200,
    'You are logged in',
    `As ${username}. You can close this page and return to your application. ${earlier}`.trim(),
  );

/** The login page of a pending login; `failed` holds the error of the last attempt. */
export function loginPage(
  interaction: Interaction,
  config: Pick<Services['config'], 'http' | 'sessions' | 'identity'>,
  failed?: { refusal: Refusal; username: string | undefined },
): OperationResponse {
  const { base_url: baseUrl } = config.http;
  const content = loginContent({
    did: interaction.id,
    about: toPageSubject(interaction),
    username: failed?.username?.slice(0, 320),
    problem: failed?.refusal.message,
    config,
  });
  const title = failed === undefined ? 'Log in' : 'Not logged in';
  return page(title, content, {
    baseUrl,
    ...toLeadsTo(interaction),
    ...(failed && toStatusAndHeaders(failed.refusal)),
  });
}

function codePage(interaction: Interaction, account: Account, baseUrl: string, refusal?: Refusal): OperationResponse {
  const content = codeContent({ did: interaction.id, username: account.username, problem: refusal?.message });
  const title = refusal === undefined ? 'One-time password' : 'Not logged in';
  return page(title, content, { baseUrl, ...toLeadsTo(interaction), ...(refusal && toStatusAndHeaders(refusal)) });
}

export const messagePage = (baseUrl: string, status: number, heading: string, words: string): OperationResponse =>
  page(heading, messageContent(heading, words, { alert: status !== 200 }), { baseUrl, status });

/** Returns a page instead of a JSON error if `make` throws a refusal. */
export async function withRefusalPage(
  baseUrl: string,
  make: () => OperationResponse | Promise<OperationResponse>,
): Promise<OperationResponse> {
  try {
    return await make();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const heading = refusal.code === 'login-expired' ? 'Too late' : 'This login cannot continue';
    return messagePage(baseUrl, refusal.status, heading, refusal.message);
  }
}

const toLeadsTo = ({ redirect }: Interaction): { leadsTo?: string } =>
  redirect === undefined ? {} : { leadsTo: new URL(redirect.to).origin };

const toStatusAndHeaders = ({ status, retryAfter }: Refusal): { status: number; headers: Record<string, string> } => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
});

/** Redirects to the application, with GET for every method of the request. */
function redirectToApplication({ to, state }: NonNullable<Interaction['redirect']>, code: string): OperationResponse {
  const url = new URL(to);
  if (state !== undefined) url.searchParams.set('state', state);
  url.searchParams.set('code', code);
  return seeOther(url.href);
}

/** Redirects the browser to a separate page, with GET. */
export const seeOther = (location: string): OperationResponse =>
  new OperationResponse({
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: '',
  });

/** Describes the login for the page: the asking application and the requested permissions. */
function toPageSubject({ caveat, address, redirect }: Interaction): LoginPageSubject {
  if (redirect !== undefined) return { kind: 'site', site: new URL(redirect.to).origin };
  const purpose = caveat?.purpose;
  if (purpose === undefined) return { kind: 'unknown', address };
  const { description, permissions, channels, moreChannels, packages, until } = purpose;
  const more = moreChannels === 0 ? '' : ` and ${moreChannels} more`;
  const where = [
    ...(packages === null ? [] : [packages === 1 ? 'one package' : `${packages} packages`]),
    ...(channels === null ? [] : [`the channels ${channels.join(', ')}${more}`]),
  ];
  return {
    kind: 'purpose',
    asker: description === null || description === '' ? 'A program' : description,
    may: describePermissions(permissions),
    where: where.join('; '),
    until,
    address,
  };
}
