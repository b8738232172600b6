// Turns one-time passwords on and off. To turn them on, the page shows a QR code, and a first code proves that the authenticator has read
// it.
import { account } from '#access/access-rules.ts';
import type { ProposedTotp } from '#http/identity-provider.ts';
import type { OperationResponse } from '#http/operation.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { Refusal } from '#domain/refusal.ts';
import { findAccount } from '#operations/accounts/present.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { renderInFrame, type ConsoleFrameInput } from '../frame.ts';
import { formOf } from '../parts/form.ts';
import { notice } from '../parts/notice.ts';
import { formatCount } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { credentialFields, codeField, readCredentials } from './credential-fields.ts';
import { qrDrawing } from '../parts/qr-drawing.ts';

const withMessage = declareMessages({
  'one-time-passwords-off': 'One-time passwords are turned off. You log in with your password only.',
});

const path = '/console/myself/one-time-passwords';
const mayRefuse = [
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'too-many-requests',
  'conflict',
] as const;

export const consoleOneTimePasswords = screen({
  name: 'console_one_time_passwords',
  path,
  summary: 'Show whether your account uses one-time passwords, and the form to change it.',
  access: account('token'),

  async show({ principal, records, browsing }) {
    const secret = await records.totpSecrets.find(principal.accountId);
    const hasTotp = secret !== undefined;
    return {
      title: 'One-time passwords',
      lead: hasTotp
        ? 'You are asked for a one-time password at each login with your password.'
        : 'With one-time passwords, the password alone is not enough to log in. An app on your phone shows six digits that change every 30 seconds.',
      content: html`${
          hasTotp
            ? renderOptions(browsing, (JSON.parse(secret.recovery) as string[]).length)
            : formOf(browsing, `${path}/begin`, html`${credentialFields(browsing, 'password')} <button>Begin</button>`)
        }
        <p class="hint">
          After a change here, your approvals do not count for three days. If you lose the authenticator and the
          recovery codes, ask the administrator of the host for a new secret.
        </p>
        <p><a href="/console/myself">Cancel</a></p>`,
    };
  },
});

/** The choices of an account with one-time passwords: new recovery codes, and turning them off. */
const renderOptions = (browsing: BrowserEvidence['browsing'], left: number): Html =>
  html`<h2>Recovery codes</h2>
    <p>
      ${left === 0 ? 'You have none.' : `You have ${formatCount(left, 'recovery code')} left.`} Each works once in place
      of the authenticator to log in. You cannot approve changes with it.
    </p>
    ${formOf(browsing, `${path}/recovery-codes`, html`${credentialFields(browsing, 'both')} <button class="second">Make new recovery codes</button>`)}
    <h2>Turn off one-time passwords</h2>
    ${formOf(browsing, `${path}/switch-off`, html`${credentialFields(browsing, 'both')} <button class="grave">Turn off</button>`)}`;

export const consoleRenewRecoveryCodes = formHandler({
  name: 'console_renew_recovery_codes',
  path: `${path}/recovery-codes`,
  summary: 'Make new recovery codes and show them once. The old ones become invalid.',
  access: account('token'),
  body: 'ConsoleAgain',
  refuses: [...mayRefuse, 'resource-not-found'],

  async perform(call) {
    const { principal, identity, requestId } = call;
    const proven = await identity.own.prove(principal.accountId, readCredentials(call));
    const about = { sessionId: principal.sessionId, requestId };
    return codesPage(
      call,
      'Your new recovery codes',
      'Your old recovery codes are no longer valid.',
      await identity.own.renewRecoveryCodes(proven, about),
    );
  },
});

/** Shows recovery codes, this one time. */
const codesPage = (
  call: ConsoleFrameInput,
  title: string,
  lead: string,
  codes: readonly string[],
): Promise<OperationResponse> =>
  renderInFrame(call, {
    title,
    lead,
    content: html`<p>
        If you lose your authenticator, enter a recovery code in place of the one-time password. Each code works once.
      </p>
      ${notice('note', 'The codes are shown only now, and the store keeps only their digests. Print them or write them down.')}
      <pre tabindex="0">${codes.join('\n')}</pre>
      <p><a href="/console/myself">I have them</a></p>`,
  });

export const consoleBeginOneTimePasswords = formHandler({
  name: 'console_begin_one_time_passwords',
  path: `${path}/begin`,
  summary:
    'Show a secret for an authenticator, as a QR code and as text. It takes effect when a first code confirms it.',
  access: account('token'),
  body: 'ConsoleAgain',
  refuses: mayRefuse,

  async perform(call) {
    const { principal, identity, requestId } = call;
    const proven = await identity.own.provePassword(principal.accountId, readCredentials(call));
    return proposalPage(call, await identity.own.proposeTotp(proven, { sessionId: principal.sessionId, requestId }));
  },
});

export const consoleSwitchOnOneTimePasswords = formHandler({
  name: 'console_switch_on_one_time_passwords',
  path: `${path}/switch-on`,
  summary: 'Turn on one-time passwords: confirm the shown secret with a first code.',
  access: account('token'),
  body: 'ConsoleFirstCode',
  refuses: mayRefuse,

  async perform(call) {
    const { principal, identity, body, records, requestId } = call;
    const about = { sessionId: principal.sessionId, requestId };
    const own = await findAccount(principal.accountId, records);
    let codes: string[];
    try {
      codes = await identity.own.switchOnTotp(own, body, about);
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'twofactor-failure') throw refusal;
      return proposalPage(call, identity.own.proposedTotp(own, body.proposal, about), refusal);
    }
    return codesPage(
      call,
      'One-time passwords are on',
      'From now on, you are asked for a one-time password at each login.',
      codes,
    );
  },
});

export const consoleSwitchOffOneTimePasswords = formHandler({
  name: 'console_switch_off_one_time_passwords',
  path: `${path}/switch-off`,
  summary: 'Turn off one-time passwords; needs a one-time password.',
  access: account('token'),
  body: 'ConsoleAgain',
  refuses: [...mayRefuse, 'resource-not-found'],

  async perform(call) {
    const { principal, identity, requestId } = call;
    const proven = await identity.own.prove(principal.accountId, readCredentials(call));
    await identity.own.switchOffTotp(proven, { sessionId: principal.sessionId, requestId });
    return withMessage('/console/myself', 'one-time-passwords-off');
  },
});

/** Shows the secret, and a field for a first code; `refusal` says why the last code was refused. */
const proposalPage = (
  call: ConsoleFrameInput,
  { secret, address, proposal }: ProposedTotp,
  refusal?: Refusal,
): Promise<OperationResponse> =>
  renderInFrame(call, {
    title: 'Scan this with your authenticator',
    lead: 'The secret takes effect when you enter a first code.',
    ...(refusal && { status: 403 }),
    content: html`${refusal === undefined ? nothing : notice('warn', refusal.message)}
      ${qrDrawing(address, 'A QR code with the secret; the text below contains the same secret.')}
      <p>Or type this secret: <code>${secret.match(/.{1,4}/g)?.join(' ') ?? secret}</code></p>
      ${formOf(
        call.browsing,
        `${path}/switch-on`,
        html`<input type="hidden" name="proposal" value="${proposal}" /> ${codeField('The first code')}
          <button>Turn on</button>`,
      )}
      <p><a href="/console/myself">Cancel</a></p>`,
  });
