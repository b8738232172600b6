// Logging in: with a password, and to a session that a token is then good for.
import { Refusal } from '#domain/refusal.ts';
import { act } from './act.ts';

interface LogIn {
  accountId: string;
  /** When the password was set that was verified. */
  passwordSetAt: string;
  /**
   * The sealed secret that one-time passwords come from, and the time step of the one that was given, or the digest of the
   * recovery code that was given in its place.
   */
  oneTimePassword: { secret: string; step: number } | { secret: string; recovery: string } | undefined;
  address: string;
}

export const logIn = act({
  name: 'log_in',
  summary: 'Log in with a password.',
  on: 'account/ID',
  object: ({ accountId }: LogIn) => `account/${accountId}`,
  gate: { never: 'it is what somebody does to his own login' },

  /** Takes each one-time password once. What has changed since the password was verified is not what was proven. */
  async perform(tx, { accountId, passwordSetAt, oneTimePassword, address }: LogIn, { note }): Promise<void> {
    note({ address });
    if ((await tx.accounts.disabledAt(accountId)) !== null) throw wrongCredentials();
    if ((await tx.passwords.find(accountId))?.changedAt !== passwordSetAt) throw wrongCredentials();
    const secret = await tx.totpSecrets.find(accountId);
    if (secret?.sealed !== oneTimePassword?.secret) throw wrongCode();
    if (oneTimePassword === undefined) return;
    if ('step' in oneTimePassword) {
      if (!(await tx.totpSecrets.use(accountId, oneTimePassword.step))) throw wrongCode();
      return;
    }
    const left = await tx.totpSecrets.useRecovery(accountId, oneTimePassword.recovery);
    if (left === undefined) throw wrongCode();
    note({ 'recovery-codes-left': left });
  },
});

/** The same for all that is wrong with a name or a password. */
export const wrongCredentials = (): Refusal =>
  new Refusal('invalid-credentials', 'The name or the password is not right.');

export const wrongCode = (): Refusal =>
  new Refusal('twofactor-failure', 'The one-time password is not right, or has been used; wait for the next one.');

interface PutOff {
  accountId: string | undefined;
  address: string;
  putOff: 'name' | 'address';
}

export const putOffLogins = act({
  name: 'log_in',
  summary: 'Put off logins after too many that failed.',
  on: 'account/ID or login',
  // What was typed as a name may be a password, so that of nobody's account stays untold.
  object: ({ accountId }: PutOff) => (accountId === undefined ? 'login' : `account/${accountId}`),
  outcome: 'refused',
  gate: { never: 'it keeps somebody out, and changes nothing' },

  async perform(_tx, { address, putOff }: PutOff, { note }): Promise<void> {
    note({ address, 'put-off': putOff });
  },
});
