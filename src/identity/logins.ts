// Logging in with a password, and setting one with a link.
import { createHash } from 'node:crypto';

import type { Acts } from '#acts/act.ts';
import { linkIsVoid, rehashPassword, setOwnPassword } from '#acts/credentials.ts';
import { logIn, putOffLogins, wrongCode, wrongCredentials } from '#acts/logins.ts';
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
  acts: Acts;
  passwords: Passwords;
  siteKey: Buffer;
  now: Now;
}

/** What a secret of one-time passwords is sealed for. */
export const totpPurpose = (accountId: string): string => `one-time passwords of ${accountId}`;

/** A set-up link is kept by the digest of its secret. */
export const setUpDigest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export function createLogins({ records, acts, passwords, siteKey, now }: LoginOptions): Logins {
  const backOff = createBackOff({ records, now });

  const checkPassword: Logins['checkPassword'] = async (credentials) => {
    const { name, password, address } = credentials;
    const account = await records.accounts.logsInAs(name);
    const kept = account && (await records.passwords.find(account.id));
    const attempt = attemptOf(account, name, address);
    await backOff.check(attempt, kept?.changedAt);
    const turn = { client: clientOf(address), isFamiliar: await backOff.isFamiliar(attempt) };
    const { right, stale } = await passwords.verify(password, kept?.hash, turn);
    if (account === undefined || kept === undefined || !right) {
      await failed(credentials, account);
      throw wrongCredentials();
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
    for (const what of await backOff.failed(attemptOf(account, name, address))) {
      const accountId = what === 'name' ? account?.id : undefined;
      await acts.do(putOffLogins, { actor: 'unknown', requestId }, { accountId, address, putOff: what });
    }
  };

  const rehash = async (
    account: Account,
    before: string,
    { password, requestId }: { password: string; requestId: string },
  ) => {
    const hash = await passwords.hash(password);
    await acts.do(rehashPassword, { actor: account.id, requestId }, { id: account.id, before, hash });
  };

  const finish: Logins['finish'] = async (account, { name, oneTimePassword, address, requestId }) => {
    const attempt = attemptOf(account, name, address);
    const secret = await records.totpSecrets.find(account.id);
    let proven: { secret: string; step: number } | undefined;
    if (secret !== undefined) {
      if (oneTimePassword === undefined || oneTimePassword.trim() === '') {
        throw new Refusal('twofactor-required', 'This account also asks for a one-time password (otp required).');
      }
      await backOff.check(attempt);
      const step = stepOf(unseal(siteKey, secret.sealed, totpPurpose(account.id)), oneTimePassword, now());
      if (step === undefined) {
        await failed({ name, address, requestId }, account);
        throw wrongCode();
      }
      proven = { secret: secret.sealed, step };
    }
    try {
      const wanted = { accountId: account.id, oneTimePassword: proven, address };
      await acts.do(logIn, { actor: account.id, requestId }, wanted);
    } catch (error) {
      // Somebody else was quicker with the same code.
      if (error instanceof Refusal && error.code === 'twofactor-failure') {
        await failed({ name, address, requestId }, account);
      }
      throw error;
    }
    await backOff.succeeded(attempt);
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
      const account = await records.setUpLinks.find(digest, timestamp(now()));
      if (account === undefined) throw linkIsVoid();
      const problem = passwordProblem(password, account);
      if (problem !== undefined) throw new Refusal('api-error', problem);
      const hash = await passwords.hash(password);
      await acts.do(setOwnPassword, { actor: account.id, requestId }, { id: account.id, digest, hash, endTokens });
    },
  };
}

/** All names of an account are counted as one, or each of them would have guesses of its own. */
const attemptOf = (account: Account | undefined, name: string, address: string): Attempt => ({
  who: account === undefined ? { name } : { accountId: account.id },
  address,
});
