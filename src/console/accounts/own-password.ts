// Lets the person who is logged in change their password. A wrong current password counts as a failed login.
import { account } from '#access/access-rules.ts';
import { html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { minPasswordLength } from '#identity/credentials/passwords.ts';
import { field, formOf, tick } from '../parts/form.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { credentialFields, findOwnProof, readCredentials } from './credential-fields.ts';

const withMessage = declareMessages({
  'password-changed': 'Your password is changed.',
});

const path = '/console/myself/password';

export const consolePassword = screen({
  name: 'console_password',
  path,
  summary: 'Show the form to change your own password.',
  access: account('token'),

  show: async ({ principal, records, browsing }) => ({
    title: 'Change your password',
    lead: 'The new password then applies here and in every tool.',
    content: html`${formOf(
        browsing,
        path,
        html`${credentialFields(browsing, await findOwnProof(principal, records), 'Your current password')}
          ${field({
            name: 'new-password',
            label: 'The new password',
            type: 'password',
            required: true,
            maxLength: 1024,
            autocomplete: 'new-password',
            hint: `At least ${String(minPasswordLength)} characters; 15 or more are better.`,
          })}
          ${field({
            name: 'again',
            label: 'Repeat the new password',
            type: 'password',
            required: true,
            maxLength: 1024,
            autocomplete: 'new-password',
          })}
          ${tick('end-tokens', 'Revoke all my tokens and logins permanently, including this one: other people may know the old password')}
          <button>Change password</button>`,
      )}
      <p class="hint">Your approvals do not count for three days after the change.</p>
      <p><a href="/console/myself">Cancel</a></p>`,
  }),
});

export const consoleChangePassword = formHandler({
  name: 'console_change_password',
  path,
  summary: 'Change your own password; needs the old one.',
  access: account('token'),
  body: 'ConsoleNewPassword',
  refuses: ['invalid-credentials', 'twofactor-required', 'twofactor-failure', 'too-many-requests', 'conflict'],

  async perform(call) {
    const { body, principal, identity, authority, requestId } = call;
    if (body['new-password'] !== body.again) {
      throw new Refusal('api-error', 'The two new passwords differ. Enter the new password again.');
    }
    const proven = await identity.own.prove(principal.accountId, readCredentials(call));
    const endTokensAt = body['end-tokens'] === 'yes' ? timestamp(authority.latestTime()) : null;
    const about = { sessionId: principal.sessionId, requestId, endTokensAt };
    await identity.own.changePassword(proven, body['new-password'], about);
    return withMessage('/console/myself', 'password-changed');
  },
});
