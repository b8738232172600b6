// Logging in with a password, and setting one with a link.
import { createHash } from 'node:crypto';

import type { Logins } from '#api/identity.ts';
import { clientOf } from '#domain/client.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts.ts';
import type { Records } from '#records/index.ts';
import { createBackOff, type Attempt } from './back-off.ts';
import { passwordProblem, type Passwords } from './passwords.ts';
import { stepOf } from './totp.ts';

export interface LoginOptions {
  records: Records;
  passwords: Passwords;
  siteKey: Buffer;
  now: Now;
}

/** What a secret of one-time passwords is sealed for. */
export const totpPurpose = (accountId: string): string => `one-time passwords of ${accountId}`;

/** A set-up link is kept by the digest of its secret. */
export const setUpDigest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export function createLogins({ records, passwords, siteKey, now }: LoginOptions): Logins {
  const backOff = createBackOff(now);

  const checkPassword: Logins['checkPassword'] = async (credentials) => {
    const { name, password, address } = credentials;
    const account = await records.accounts.logsInAs(name);
    const kept = account && (await records.passwords.find(account.id));
    const attempt = attemptOf(account, name, address);
    backOff.check(attempt, kept?.changedAt);
    const turn = { client: clientOf(address), isFamiliar: backOff.isFamiliar(attempt) };
    const { right, stale } = await passwords.verify(password, kept?.hash, turn);
    if (account === undefined || kept === undefined || !right) {
      await failed(credentials, account);
      throw new Refusal('invalid-credentials', 'The name or the password is not right.');
    }
    if (stale) await rehash(account, kept.hash, credentials);
    return { account, needsOneTimePassword: (await records.totpSecrets.find(account.id)) !== undefined };
  };

  /**
   * Counts a failure. Of an account and of an address one entry of the audit log tells when they are put off, not one
   * of each failure: a stranger can neither fill the log nor tell by the time it takes whether there is such an account.
   */
  const failed = async (
    { name, address, requestId }: { name: string; address: string; requestId: string },
    account: Account | undefined,
  ): Promise<void> => {
    for (const what of backOff.failed(attemptOf(account, name, address))) {
      // What was typed as a name may be a password, so that of nobody's account stays untold.
      const object = what === 'name' && account !== undefined ? `account/${account.id}` : 'login';
      const entry = { at: timestamp(now()), actor: 'unknown', action: 'log_in', object, requestId };
      const details = { address, 'put-off': what };
      await records.change({ ...entry, details, outcome: 'refused' }, () => Promise.resolve());
    }
  };

  const rehash = async (
    account: Account,
    before: string,
    { password, requestId }: { password: string; requestId: string },
  ) => {
    const hash = await passwords.hash(password);
    const entry = {
      at: timestamp(now()),
      actor: account.id,
      action: 'rehash_password',
      object: `account/${account.id}`,
    };
    await records.change({ ...entry, requestId }, (tx) => tx.passwords.rehash(account.id, before, hash));
  };

  const finish: Logins['finish'] = async (account, { name, oneTimePassword, address, requestId }) => {
    const attempt = attemptOf(account, name, address);
    const secret = await records.totpSecrets.find(account.id);
    const wrongCode = async (): Promise<Refusal> => {
      await failed({ name, address, requestId }, account);
      return new Refusal(
        'twofactor-failure',
        'The one-time password is not right, or has been used; wait for the next one.',
      );
    };
    let step: number | undefined;
    if (secret !== undefined) {
      if (oneTimePassword === undefined || oneTimePassword.trim() === '') {
        throw new Refusal('twofactor-required', 'This account also asks for a one-time password (otp required).');
      }
      backOff.check(attempt);
      step = stepOf(unseal(siteKey, secret.sealed, totpPurpose(account.id)), oneTimePassword, now());
      if (step === undefined) throw await wrongCode();
    }
    const entry = {
      at: timestamp(now()),
      actor: account.id,
      action: 'log_in',
      object: `account/${account.id}`,
      requestId,
    };
    try {
      await records.change({ ...entry, details: { address } }, async (tx) => {
        if (step !== undefined && !(await tx.totpSecrets.use(account.id, step))) throw new UsedCode();
      });
    } catch (error) {
      throw error instanceof UsedCode ? await wrongCode() : error;
    }
    backOff.succeeded(attempt);
  };

  return {
    checkPassword,
    finish,

    async logIn(credentials) {
      const { account } = await checkPassword(credentials);
      await finish(account, credentials);
      return account;
    },

    setUpLink: (secret) => records.setUpLinks.find(setUpDigest(secret), timestamp(now())),

    async setPassword(secret, password, { requestId, endTokens }) {
      const digest = setUpDigest(secret);
      const at = timestamp(now());
      const account = await records.setUpLinks.find(digest, at);
      if (account === undefined) throw linkIsVoid();
      const problem = passwordProblem(password, account);
      if (problem !== undefined) throw new Refusal('api-error', problem);
      const hash = await passwords.hash(password);
      const entry = { at, actor: account.id, action: 'set_password', object: `account/${account.id}`, requestId };
      await records.change(entry, async (tx, note) => {
        if (!(await tx.setUpLinks.remove(digest))) throw linkIsVoid();
        await tx.passwords.set(account.id, hash, at);
        if (!endTokens) return;
        note({ 'ended-tokens': await tx.macaroons.endAll(account.id, { at, by: account.id, issuedBefore: null }) });
      });
    },
  };
}

/** All names of an account are counted as one, or each of them would have guesses of its own. */
const attemptOf = (account: Account | undefined, name: string, address: string): Attempt => ({
  who: account === undefined ? { name } : { accountId: account.id },
  address,
});

/** Somebody else was quicker with the same code. */
class UsedCode extends Error {}

const linkIsVoid = (): Refusal =>
  new Refusal('login-expired', 'This link has expired or was used; ask an administrator of the store for another.');
