// Logins: with a password and, if it is turned on, a one-time password.
import { Refusal } from '#domain/refusal.ts';
import { act } from '../act.ts';

interface LogIn {
  accountId: string;
  /** When the verified password was set. */
  passwordSetAt: string;
  /**
   * The sealed secret of the one-time passwords, with the time step of the given password or the digest of the given
   * recovery code.
   */
  oneTimePassword: { secret: string; step: number } | { secret: string; recovery: string } | undefined;
  address: string;
  /** The session of the console that asked for the credentials again; undefined for a new login. */
  provenSession: string | undefined;
}

export const logIn = act({
  name: 'log_in',
  summary: 'Log in with a password.',
  on: 'account/ID',
  object: ({ accountId }: LogIn) => `account/${accountId}`,
  gate: { never: 'it changes only the login of the same account' },

  /** Accepts each one-time password once. Refused if the password or the secret changed since it was verified. */
  async perform(
    tx,
    { accountId, passwordSetAt, oneTimePassword, address, provenSession }: LogIn,
    doing,
  ): Promise<void> {
    const { note, at } = doing;
    note({ address });
    if ((await tx.accounts.disabledAt(accountId)) !== null) throw wrongCredentials();
    if ((await tx.passwords.find(accountId))?.changedAt !== passwordSetAt) throw wrongCredentials();
    if (provenSession === undefined) await tx.lastLogins.add(accountId, { at, address });
    else await tx.macaroons.prove(provenSession, accountId, at);
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

/** The refusal for a wrong name and for a wrong password. It is the same for both, so that the caller does not learn which names exist. */
export const wrongCredentials = (): Refusal => new Refusal('invalid-credentials', 'The name or the password is wrong.');

export const wrongCode = (): Refusal =>
  new Refusal('twofactor-failure', 'The one-time password is wrong or was used already. Wait for the next one.');

interface LoginDelay {
  accountId: string | undefined;
  address: string;
  putOff: 'name' | 'address';
}

export const delayLogins = act({
  name: 'log_in',
  summary: 'Delay logins after too many failed ones.',
  on: 'account/ID or login',
  // The name typed may be a password, so a name without an account is not logged.
  object: ({ accountId }: LoginDelay) => (accountId === undefined ? 'login' : `account/${accountId}`),
  outcome: 'refused',
  gate: { never: 'it only delays logins and changes nothing else' },

  async perform(_tx, { address, putOff }: LoginDelay, { note }): Promise<void> {
    note({ address, 'put-off': putOff });
  },
});
