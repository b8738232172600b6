// Logging in with a password, and setting one with a link.
import { createHash } from 'node:crypto';

import type { Acts } from '#acts/act.ts';
import { linkIsVoid, rehashPassword, setOwnPassword } from '#acts/credentials.ts';
import { logIn, putOffLogins, wrongCode, wrongCredentials } from '#acts/logins.ts';
import type { Credentials, Logins, Proven } from '#api/identity.ts';
import { clientOf } from '#domain/client.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts.ts';
import type { Records } from '#records/index.ts';
import { createBackOff, type Attempt, type BackOff } from './back-off.ts';
import { passwordProblem, type Passwords } from './passwords.ts';
import { isRecoveryCode, recoveryDigest } from './recovery-codes.ts';
import { stepOf } from './totp.ts';

export interface LoginOptions {
  records: Records;
  acts: Acts;
  passwords: Passwords;
  siteKey: Buffer;
  now: Now;
  /** Whether the store asks its administrators for one-time passwords; it does not unless this is given. */
  requiresTotp?: (() => boolean) | undefined;
  /** The host name of the store. */
  host: () => string;
}

/** What a secret of one-time passwords is sealed for. */
export const totpPurpose = (accountId: string): string => `one-time passwords of ${accountId}`;

/** A set-up link is kept by the digest of its secret. */
export const setUpDigest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export function createLogins(options: LoginOptions): Logins {
  const { records, acts, passwords, now } = options;
  const parts = { ...options, backOff: createBackOff({ records, now }) };
  const logins: Pick<Logins, 'checkPassword' | 'finish'> = {
    checkPassword: (credentials) => checkPassword(parts, credentials),
    finish: (account, credentials) => finish(parts, account, credentials),
  };
  return {
    ...logins,

    async logIn(credentials) {
      const { account } = await logins.checkPassword(credentials);
      await logins.finish(account, credentials);
      return account;
    },

    async logInWithBoth(credentials) {
      const { account, needsOneTimePassword } = await logins.checkPassword(credentials);
      if (!needsOneTimePassword) throw noOneTimePasswords();
      if (isRecoveryCode(credentials.oneTimePassword ?? '')) throw noRecoveryCode();
      await logins.finish(account, credentials);
      return account;
    },

    setUpLink: (secret) => records.setUpLinks.find(setUpDigest(secret), timestamp(now())),

    async setPassword(secret, password, { requestId, endTokens }) {
      const digest = setUpDigest(secret);
      const account = await records.setUpLinks.find(digest, timestamp(now()));
      if (account === undefined) throw linkIsVoid();
      const problem = passwordProblem(password, account, options.host());
      if (problem !== undefined) throw new Refusal('api-error', problem);
      const hash = await passwords.hash(password);
      await acts.do(setOwnPassword, { actor: account.id, requestId }, { id: account.id, digest, hash, endTokens });
    },
  };
}

const noOneTimePasswords = (): Refusal =>
  new Refusal(
    'twofactor-required',
    "This asks for a one-time password, and the account has none; 'larder account totp' on the host gives it some.",
  );

const mustHaveOne = ({ id }: Account): Refusal =>
  new Refusal(
    'twofactor-required',
    `This store asks its administrators for a one-time password, and your account has none; 'larder account totp ${id}' on the host gives it some.`,
  );

/** Paper can be copied without anybody noticing: it lets its owner in again, and proves nothing more. */
const noRecoveryCode = (): Refusal =>
  new Refusal(
    'twofactor-failure',
    'This asks for what your authenticator shows; a recovery code is for logging in without it, and does not count here.',
  );

type Parts = LoginOptions & { backOff: BackOff };
type Without<Secret extends keyof Credentials> = Omit<Credentials, Secret>;

async function checkPassword(
  parts: Parts,
  credentials: Credentials,
): Promise<{ account: Proven; needsOneTimePassword: boolean }> {
  const { records, passwords, backOff } = parts;
  const { name, password, address } = credentials;
  const account = await records.accounts.logsInAs(name);
  const kept = account && (await records.passwords.find(account.id));
  const attempt = attemptOf(account, name, address);
  await backOff.check(attempt, kept?.changedAt);
  const turn = { client: clientOf(address), isFamiliar: await backOff.isFamiliar(attempt) };
  const { right, stale } = await passwords.verify(password, kept?.hash, turn);
  if (account === undefined || kept === undefined || !right) {
    await failed(parts, credentials, account);
    throw wrongCredentials();
  }
  if (stale) await rehash(parts, { account, before: kept.hash }, credentials);
  const needsOneTimePassword = (await records.totpSecrets.find(account.id)) !== undefined;
  return { account: { ...account, passwordSetAt: kept.changedAt }, needsOneTimePassword };
}

async function finish(parts: Parts, account: Proven, credentials: Without<'password'>): Promise<void> {
  const { acts, backOff } = parts;
  const { name, address, requestId } = credentials;
  const attempt = attemptOf(account, name, address);
  try {
    const oneTimePassword = await proveOneTimePassword(parts, { account, attempt }, credentials);
    const wanted = { accountId: account.id, passwordSetAt: account.passwordSetAt, oneTimePassword, address };
    await acts.do(logIn, { actor: account.id, requestId }, wanted);
  } catch (error) {
    // Wrong, or somebody else was quicker with the same code.
    if (error instanceof Refusal && error.code === 'twofactor-failure') await failed(parts, credentials, account);
    throw error;
  }
  await backOff.succeeded(attempt);
}

/** What proves the one-time password; nothing where the account asks for none. */
async function proveOneTimePassword(
  { records, siteKey, now, backOff, requiresTotp }: Parts,
  { account, attempt }: { account: Account; attempt: Attempt },
  { oneTimePassword }: Without<'password'>,
): Promise<Proof | undefined> {
  const secret = await records.totpSecrets.find(account.id);
  if (secret === undefined) {
    if (requiresTotp?.() === true && (await records.accounts.isStoreAdministrator(account.id)))
      throw mustHaveOne(account);
    return undefined;
  }
  if (oneTimePassword === undefined || oneTimePassword.trim() === '') {
    throw new Refusal('twofactor-required', 'This account also asks for a one-time password (otp required).');
  }
  await backOff.check(attempt);
  const recovery = recoveryDigest(siteKey, account.id, oneTimePassword);
  if (recovery !== undefined) return { secret: secret.sealed, recovery };
  const step = stepOf(unseal(siteKey, secret.sealed, totpPurpose(account.id)), oneTimePassword, now());
  if (step === undefined) throw wrongCode();
  return { secret: secret.sealed, step };
}

/** The sealed secret, and which of its codes it was, or which recovery code. */
type Proof = { secret: string; step: number } | { secret: string; recovery: string };

/**
 * Counts a failure. Of an account and of an address one entry of the audit log tells when they are put off, not one
 * of each failure: a stranger can neither fill the log nor tell by the time it takes whether there is such an account.
 */
async function failed(
  { acts, backOff }: Parts,
  { name, address, requestId }: Without<'password' | 'oneTimePassword'>,
  account: Account | undefined,
): Promise<void> {
  for (const what of await backOff.failed(attemptOf(account, name, address))) {
    const accountId = what === 'name' ? account?.id : undefined;
    await acts.do(putOffLogins, { actor: 'unknown', requestId }, { accountId, address, putOff: what });
  }
}

async function rehash(
  { acts, passwords }: Parts,
  { account, before }: { account: Account; before: string },
  { password, requestId }: Credentials,
): Promise<void> {
  const hash = await passwords.hash(password);
  await acts.do(rehashPassword, { actor: account.id, requestId }, { id: account.id, before, hash });
}

/** All names of an account are counted as one, or each of them would have guesses of its own. */
const attemptOf = (account: Account | undefined, name: string, address: string): Attempt => ({
  who: account === undefined ? { name } : { accountId: account.id },
  address,
});
