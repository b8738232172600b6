// Switching one-time passwords on, with a QR code and a first code to prove that the authenticator has read it, and off again.
import { account } from '#api/access.ts';
import type { ProposedTotp } from '#api/identity.ts';
import type { Answer } from '#api/operation.ts';
import { html, nothing } from '#api/pages/html.ts';
import { Refusal } from '#domain/refusal.ts';
import { accountNamed } from '#operations/accounts/present.ts';
import { framed, type Shown } from '../frame.ts';
import { formOf } from '../parts/form.ts';
import { notice } from '../parts/notice.ts';
import { saying } from '../said.ts';
import { deed, screen } from '../screen.ts';
import { againFields, asksForCode, codeField, typedAgain } from './again.ts';
import { qrDrawing } from './qr-drawing.ts';

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
  summary: 'Show whether somebody is asked for one-time passwords, and the form that changes it.',
  access: account('token'),

  async show({ principal, records, browsing }) {
    const hasTotp = await asksForCode(principal, records);
    return {
      title: 'One-time passwords',
      lead: hasTotp
        ? 'You are asked for one with each login by password.'
        : 'With them a password alone lets nobody in: an app on your phone shows six digits, new ones every half minute.',
      content: html`${
          hasTotp
            ? formOf(
                browsing,
                `${path}/switch-off`,
                html`${againFields(browsing, true)} <button class="grave">Switch them off</button>`,
              )
            : formOf(browsing, `${path}/begin`, html`${againFields(browsing, false)} <button>Begin</button>`)
        }
        <p class="hint">
          What you approve of counts again three days after you switch them on or off. Whoever has lost his
          authenticator asks for another secret from whoever looks after the host.
        </p>
        <p><a href="/console/myself">Leave it as it is</a></p>`,
    };
  },
});

export const consoleBeginOneTimePasswords = deed({
  name: 'console_begin_one_time_passwords',
  path: `${path}/begin`,
  summary:
    'Show a secret for an authenticator, as a QR code and as text; it is in force once a first code of it has come.',
  access: account('token'),
  body: 'ConsoleAgain',
  refuses: mayRefuse,

  async perform(call) {
    const { principal, identity, requestId } = call;
    const proven = await identity.own.provePassword(principal.accountId, typedAgain(call));
    return proposalPage(call, await identity.own.proposeTotp(proven, { sessionId: principal.sessionId, requestId }));
  },
});

export const consoleSwitchOnOneTimePasswords = deed({
  name: 'console_switch_on_one_time_passwords',
  path: `${path}/switch-on`,
  summary: 'Put a secret that was shown in force, by a first code of it.',
  access: account('token'),
  body: 'ConsoleFirstCode',
  refuses: mayRefuse,

  async perform(call) {
    const { principal, identity, body, records, requestId } = call;
    const about = { sessionId: principal.sessionId, requestId };
    const own = await accountNamed(principal.accountId, records);
    try {
      await identity.own.switchOnTotp(own, body, about);
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'twofactor-failure') throw refusal;
      return proposalPage(call, identity.own.proposedTotp(own, body.proposal, about), refusal);
    }
    return saying('/console/myself', 'one-time-passwords-on');
  },
});

export const consoleSwitchOffOneTimePasswords = deed({
  name: 'console_switch_off_one_time_passwords',
  path: `${path}/switch-off`,
  summary: 'Log in with the password alone again, which takes a one-time password.',
  access: account('token'),
  body: 'ConsoleAgain',
  refuses: [...mayRefuse, 'resource-not-found'],

  async perform(call) {
    const { principal, identity, requestId } = call;
    const proven = await identity.own.prove(principal.accountId, typedAgain(call));
    await identity.own.switchOffTotp(proven, { sessionId: principal.sessionId, requestId });
    return saying('/console/myself', 'one-time-passwords-off');
  },
});

/** The secret, and the field for a first code; `refusal` is what was wrong with the last one. */
const proposalPage = (call: Shown, { secret, address, proposal }: ProposedTotp, refusal?: Refusal): Promise<Answer> =>
  framed(call, {
    title: 'Read this with your authenticator',
    lead: 'It is in force once you have entered a first code.',
    ...(refusal && { status: 403 }),
    content: html`${refusal === undefined ? nothing : notice('warn', refusal.message)}
      ${qrDrawing(address, 'A QR code with the secret; the text below says the same.')}
      <p>Or type the secret into it: <code>${secret.match(/.{1,4}/g)?.join(' ') ?? secret}</code></p>
      ${formOf(
        call.browsing,
        `${path}/switch-on`,
        html`<input type="hidden" name="proposal" value="${proposal}" /> ${codeField('The first code')}
          <button>Switch them on</button>`,
      )}
      <p><a href="/console/myself">Leave it as it is</a></p>`,
  });
