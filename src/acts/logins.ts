// Logging in: with a password, and to a session that a token is then good for.
import { Refusal } from '#domain/refusal.ts';
import { act } from './act.ts';

export const logIn = act({
  name: 'log_in',
  summary: 'Log in with a password.',
  object: ({ accountId }: { accountId: string; step: number | undefined; address: string }) => `account/${accountId}`,
  gate: { never: 'it is what somebody does to his own login' },

  /** `step` is the time step of the one-time password, where the account asks for one; each is taken once. */
  async perform(tx, { accountId, step, address }, { note }): Promise<void> {
    note({ address });
    // Disabled while the password was verified.
    if ((await tx.accounts.disabledAt(accountId)) !== null) throw wrongCredentials();
    if (step !== undefined && !(await tx.totpSecrets.use(accountId, step))) throw wrongCode();
  },
});

/** The same for all that is wrong with a name or a password. */
export const wrongCredentials = (): Refusal =>
  new Refusal('invalid-credentials', 'The name or the password is not right.');

export const wrongCode = (): Refusal =>
  new Refusal('twofactor-failure', 'The one-time password is not right, or has been used; wait for the next one.');

export const putOffLogins = act({
  name: 'log_in',
  summary: 'Put off logins after too many that failed.',
  // What was typed as a name may be a password, so that of nobody's account stays untold.
  object: ({ accountId }: { accountId: string | undefined; address: string; putOff: 'name' | 'address' }) =>
    accountId === undefined ? 'login' : `account/${accountId}`,
  outcome: 'refused',
  gate: { never: 'it keeps somebody out, and changes nothing' },

  async perform(_tx, { address, putOff }, { note }): Promise<void> {
    note({ address, 'put-off': putOff });
  },
});
