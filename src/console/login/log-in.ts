// Logs browsers in to the console, and out of it.
import { revokeOwnToken } from '#acts/tokens/tokens.ts';
import { account, anyone } from '#access/access-rules.ts';
import {
  findBrowserSession,
  isOwnForm,
  refuseClearText,
  refuseForeignForm,
  removedSessionHeader,
  sessionHeader,
} from '#http/request/browser-sessions.ts';
import { readJson } from '#contract/json.ts';
import { operation, type OperationResponse } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import type { ConsoleLogIn } from '#contract/wire.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { IncomingMessage } from 'node:http';
import { credentialRefusals, readCredentials } from '../accounts/credential-fields.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { renderInFrame, type View } from '../frame.ts';
import { logInPage } from './log-in-page.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, seeOther } from '../screen.ts';
import { renderRestoredForm, readRestorableContent, type ConsoleFormContent } from '../restored-form.ts';

const withMessage = declareMessages({
  'logged-out': 'You have logged out.',
});

const page = {
  since: 0,
  access: anyone,
  prefixed: false,
  enabledBy: 'http.console',
  produces: ['text/html'],
  refusesWithPages: true,
} as const;

export const consoleLogIn = operation({
  ...page,
  name: 'console_log_in',
  method: 'GET',
  path: '/console/log-in',
  summary: 'Show the login page of the console.',
  query: 'ConsoleLogInQuery',
  refuses: ['forbidden'],
  handle: ({ query, config, address }) =>
    orShown({ config, to: ownAddress(query.to), username: undefined }, () => {
      refuseClearText(config.http.base_url, address);
      return logInPage({ config, to: ownAddress(query.to), says: query.done === 'logged-out' ? loggedOut : undefined });
    }),
});

const loggedOut = 'You have logged out.';

export const consoleSubmitLogIn = operation({
  ...page,
  name: 'console_submit_log_in',
  method: 'POST',
  path: '/console/log-in',
  summary: 'Log in to the console with the input of the login page.',
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 128 * 1024,
  body: 'ConsoleLogIn',
  also: { 303: 'Logged in; the browser goes to the requested page.' },
  headers: ['location'],
  refuses: ['forbidden', 'invalid-credentials', 'twofactor-required', 'twofactor-failure', 'too-many-requests'],
  handle(call) {
    const { config, body, request } = call;
    const to = ownAddress(body.to);
    const typed = isOwnForm(request, config.http.base_url) ? typedIn(body) : undefined;
    return orShown({ config, to, typed, username: body.username }, () => logIn(call, to, typed));
  },
});

export const consoleLogOut = formHandler({
  name: 'console_log_out',
  path: '/console/log-out',
  summary: 'Log out of the console.',
  access: account('token'),
  body: 'ConsoleForm',
  async perform({ acts, principal: { accountId, sessionId }, requestId, config }) {
    await acts.do(revokeOwnToken, { actor: accountId, sessionId, requestId }, { sessionId, accountId });
    return seeOther(withMessage('/console/log-in', 'logged-out'), removedSessionHeader(config.http.base_url));
  },
});

interface ConsoleLogInCall extends Pick<
  Services,
  'acts' | 'authority' | 'config' | 'identity' | 'records' | 'version' | 'now'
> {
  body: ConsoleLogIn;
  request: IncomingMessage;
  address: string;
  requestId: string;
}

async function logIn(
  call: ConsoleLogInCall,
  to: string,
  typed: ConsoleFormContent | undefined,
): Promise<OperationResponse> {
  const { request, body, config, identity, authority, records, version, now, address, requestId } = call;
  const { base_url: baseUrl } = config.http;
  refuseClearText(baseUrl, address);
  refuseForeignForm(request, baseUrl);
  const account = await identity.logins.logIn({
    name: body.username,
    password: body.password,
    oneTimePassword: body.code === '' ? undefined : body.code,
    acknowledged: body.acknowledged === 'yes',
    address,
    requestId,
  });
  const before = await findBrowserSession(request, call);
  const session = await authority.browsers.begin(account.id, { address, requestId });
  if (before !== undefined) await endSession(call, before.principal);
  const headers = sessionHeader(session, baseUrl);
  if (typed === undefined) return seeOther(to, headers);
  const browsing = await authority.browsers.find(session);
  return renderInFrame(
    { request, config, records, version, now, browsing },
    restoredView({ browsing, to, typed, headers }),
  );
}

/** The page with the input of a form that a login has interrupted. */
const restoredView = ({
  browsing,
  to,
  typed,
  headers,
}: BrowserEvidence & { to: string; typed: ConsoleFormContent; headers: Record<string, string> }): View => ({
  title: 'Check your input and send it again',
  lead: 'You are logged in again. Your input is below. It has not been carried out yet.',
  content: renderRestoredForm(browsing, to, typed, []),
  headers,
});

export const consoleReauthenticate = formHandler({
  name: 'console_reauthenticate',
  path: '/console/reauthenticate',
  summary: 'Enter your password again, before an act that the store asks it for.',
  access: account('token'),
  body: 'ConsoleReauthentication',
  bodyLimit: 128 * 1024,
  refuses: credentialRefusals,
  async perform(call) {
    const { body, identity, principal, browsing, request } = call;
    await identity.own.prove(principal.accountId, readCredentials(call));
    const to = ownAddress(body.to);
    const typed = isOwnForm(request, call.config.http.base_url) ? typedIn(body) : undefined;
    if (typed === undefined) return to;
    return renderInFrame(call, restoredView({ browsing, to, typed, headers: {} }));
  },
});

/** Ends the former session of the browser: its cookie is replaced, so that the browser could not end it later. */
const endSession = (
  { acts, requestId }: Pick<ConsoleLogInCall, 'acts' | 'requestId'>,
  { accountId, sessionId }: Pick<Principal, 'accountId' | 'sessionId'>,
): Promise<void> => acts.do(revokeOwnToken, { actor: accountId, sessionId, requestId }, { sessionId, accountId });

/** Shows a refusal on the login page, above its form. */
async function orShown(
  about: {
    config: Services['config'];
    to: string;
    typed?: ConsoleFormContent | undefined;
    username: string | undefined;
  },
  make: () => OperationResponse | Promise<OperationResponse>,
): Promise<OperationResponse> {
  try {
    return await make();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { status, message, retryAfter } = refusal;
    const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
    return logInPage({ ...about, status, says: message, failed: true, ...(headers && { headers }) });
  }
}

/** Returns an address of the console; the front page in place of any other address, which could lead to a foreign site. */
const ownAddress = (text = '/console'): string =>
  /^\/console(?:[/?][\w/.:?&=%~+-]*)?$/.test(text) ? text : '/console';

/** The earlier form content, which our login page sends along. */
function typedIn({ typed }: Pick<ConsoleLogIn, 'typed'>): ConsoleFormContent | undefined {
  return typed === undefined ? undefined : readRestorableContent(readJson(typed));
}
