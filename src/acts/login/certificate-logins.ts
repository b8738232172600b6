// Logins with client certificates.
import { Refusal } from '#domain/refusal.ts';
import { accountObject, type AccountTarget } from '../accounts/accounts.ts';
import { act, DoneAlready } from '../act.ts';

interface CertificateLogin {
  accountId: string;
  /** The user name or e-mail address in the certificate. */
  name: { username: string } | { email: string };
  address: string;
  /** The issuer as RFC 2253 text on one line, and the serial number in hexadecimal digits. */
  issuer: string;
  serial: string;
}

export const acceptCertificateLogin = act({
  name: 'accept_certificate_login',
  summary: 'Log in with a client certificate.',
  on: 'account/ID',
  object: ({ accountId }: CertificateLogin) => `account/${accountId}`,
  gate: { never: 'it changes only the login of the same account' },

  /** Refused if the name in the certificate is no longer that of the account. */
  async perform(tx, { accountId, name, address, issuer, serial }: CertificateLogin, { at, note }): Promise<void> {
    note({ address, issuer, serial });
    const account = await tx.accounts.find(accountId);
    const isSame = 'email' in name ? account?.email.toLowerCase() === name.email : account?.username === name.username;
    if (!isSame) throw unknownCertificate();
    if ((await tx.accounts.disabledAt(accountId)) !== null) throw unknownCertificate();
    await tx.lastLogins.add(accountId, { at, address });
  },
});

/** The refusal for a certificate that names no account, several, or a disabled one. */
export const unknownCertificate = (): Refusal =>
  new Refusal(
    'invalid-credentials',
    'The certificate is valid, and it names no enabled account of this store, or more than one. An administrator can set the ' +
      'user name or the e-mail address of your account.',
  );

export const endCertificateSession = act({
  name: 'end_certificate_session',
  summary: 'End a session after its client certificate is refused.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'a login in the wrong hands must stop working at once' },

  async perform(
    tx,
    { id, session, reason }: AccountTarget & { session: string; reason: string },
    { at, note },
  ): Promise<void> {
    if ((await tx.macaroons.find(session))?.revokedAt !== null) throw new DoneAlready(undefined);
    await tx.macaroons.revoke(session, id, at);
    note({ session, reason });
  },
});
