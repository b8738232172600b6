// Asks for the credentials again, before changes that a stranger at an open browser must not make.
import type { RepeatedCredentials } from '#http/identity-provider.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { field, hiddenUsernameField } from '../parts/form.ts';

interface CredentialsSubmission {
  body: { password: string; code?: string };
  address: string;
  requestId: string;
}

/** The possible refusals of the check. */
export const credentialRefusals = [
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'too-many-requests',
] as const;

/** The credentials from the form. */
export const readCredentials = ({ body, address, requestId }: CredentialsSubmission): RepeatedCredentials => ({
  password: body.password,
  oneTimePassword: body.code === '' ? undefined : body.code,
  address,
  requestId,
});

/** Whether the account uses one-time passwords. */
export const usesOneTimePasswords = async (
  { accountId }: Pick<Principal, 'accountId'>,
  { totpSecrets }: Pick<Services['records'], 'totpSecrets'>,
): Promise<boolean> => (await totpSecrets.find(accountId)) !== undefined;

/** The fields for the credentials. */
export const credentialFields = (
  browsing: BrowserEvidence['browsing'],
  hasTotp: boolean,
  label = 'Your password',
): Html =>
  html`${hiddenUsernameField(browsing)}
  ${field({
    name: 'password',
    label,
    type: 'password',
    required: true,
    maxLength: 1024,
    autocomplete: 'current-password',
  })}
  ${hasTotp ? codeField('One-time password') : nothing}`;

export const codeField = (label: string): Html =>
  field({
    name: 'code',
    label,
    required: true,
    maxLength: 16,
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
    hint: 'The six digits that your authenticator shows now.',
  });
