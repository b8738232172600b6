// Asks for the credentials again, before changes that a stranger at an open browser must not make.
import type { RepeatedCredentials } from '#http/identity-provider.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { field, hiddenUsernameField } from '../parts/form.ts';

interface CredentialsSubmission {
  body: { password?: string; code?: string };
  address: string;
  requestId: string;
  principal: Pick<Principal, 'sessionId'>;
}

/** The possible refusals of the check. */
export const credentialRefusals = [
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'too-many-requests',
] as const;

/** The credentials from the form. */
export const readCredentials = ({
  body,
  address,
  requestId,
  principal,
}: CredentialsSubmission): RepeatedCredentials => ({
  password: body.password ?? '',
  oneTimePassword: body.code === '' ? undefined : body.code,
  address,
  requestId,
  sessionId: principal.sessionId,
});

/** How an account proves itself: with its password, with a one-time password too, or by a login with the OpenID provider. */
export type OwnProof = 'password' | 'both' | 'provider';

export async function findOwnProof(
  { accountId }: Pick<Principal, 'accountId'>,
  {
    totpSecrets,
    passwords,
    openidIdentities,
  }: Pick<Services['records'], 'totpSecrets' | 'passwords' | 'openidIdentities'>,
): Promise<OwnProof> {
  const hasPassword = (await passwords.find(accountId)) !== undefined;
  if (!hasPassword && (await openidIdentities.of(accountId)) !== undefined) return 'provider';
  return (await totpSecrets.find(accountId)) === undefined ? 'password' : 'both';
}

/** The fields for the credentials. */
export const credentialFields = (
  browsing: BrowserEvidence['browsing'],
  proof: OwnProof,
  label = 'Your password',
): Html =>
  proof === 'provider'
    ? html`<p class="hint">The store may ask you to log in with the OpenID provider again.</p>`
    : html`${hiddenUsernameField(browsing)}
      ${field({
        name: 'password',
        label,
        type: 'password',
        required: true,
        maxLength: 1024,
        autocomplete: 'current-password',
      })}
      ${proof === 'both' ? codeField('One-time password') : nothing}`;

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
