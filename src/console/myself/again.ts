// Proving once more who one is, for what somebody at a browser that was left open must not do.
import type { Again } from '#api/identity.ts';
import { html, nothing, type Html } from '#api/pages/html.ts';
import type { Services } from '#api/services.ts';
import type { Principal } from '#domain/principal.ts';
import type { Browsed } from '../access.ts';
import { field, whosePassword } from '../parts/form.ts';

interface Sent {
  body: { password: string; code?: string };
  address: string;
  requestId: string;
}

/** What a proof may be refused with. */
export const refusesProof = [
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'too-many-requests',
] as const;

/** What somebody typed to prove who they are. */
export const typedAgain = ({ body, address, requestId }: Sent): Again => ({
  password: body.password,
  oneTimePassword: body.code === '' ? undefined : body.code,
  address,
  requestId,
});

/** Whether somebody is asked for one-time passwords. */
export const asksForCode = async (
  { accountId }: Pick<Principal, 'accountId'>,
  { totpSecrets }: Pick<Services['records'], 'totpSecrets'>,
): Promise<boolean> => (await totpSecrets.find(accountId)) !== undefined;

/** The fields with which somebody proves himself. */
export const againFields = (browsing: Browsed['browsing'], hasTotp: boolean, label = 'Your password'): Html =>
  html`${whosePassword(browsing)}
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
