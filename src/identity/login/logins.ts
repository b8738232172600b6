// Logs accounts in with a password, and sets passwords with a set-up link.
import { createDigest } from '#domain/cryptography.ts';
import type { Acts } from '#acts/act.ts';
import { expiredLinkRefusal, rehashPassword, setOwnPassword } from '#acts/accounts/credentials.ts';
import { logIn, delayLogins, wrongCode, wrongCredentials } from '#acts/login/logins.ts';
import type { LoginCredentials, Logins, ProvenAccount } from '#http/identity-provider.ts';
import { clientOf } from '#domain/client.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { demandsCertificate } from '#domain/accounts/role.ts';
import { Refusal } from '#domain/refusal.ts';
import { unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';
import { createBackOff, type LoginAttempt, type BackOff } from './back-off.ts';
import { passwordProblem, type Passwords } from '../credentials/passwords.ts';
import { isRecoveryCode, recoveryDigest } from '../credentials/recovery-codes.ts';
import { stepOf } from '../credentials/totp.ts';

export interface LoginOptions {
  records: StoreRecords;
  acts: Acts;
  passwords: Passwords;
  siteKey: Buffer;
  now: Now;
  /** Whether the store requires one-time passwords of its administrators; by default it does not. */
  requiresTotp?: (() => boolean) | undefined;
  /** Whether the login banner must be acknowledged; by default it need not be. */
  requiresAcknowledgement?: (() => boolean) | undefined;
  /** The roles that require a login with a client certificate; none by default. */
  certificateRoles?: (() => readonly string[]) | undefined;
  /** The host name of the store. */
  host: () => string;
}

/** The purpose that a secret for one-time passwords is sealed with. */
export const totpPurpose = (accountId: string): string => `one-time passwords of ${accountId}`;

/** The digest of the secret of a set-up link; only the digest is stored. */
export const setUpDigest = (secret: string): string => createDigest('secret').update(secret).digest('base64url');

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
      const { account, needsOneTimePassword } = await logins.checkPassword({ ...credentials, acknowledged: true });
      if (!needsOneTimePassword) throw noOneTimePasswords();
      if (isRecoveryCode(credentials.oneTimePassword ?? '')) throw noRecoveryCode();
      await logins.finish(account, { ...credentials, sessionId: undefined });
      return account;
    },

    refuseWithoutCertificate: (account, furtherRoles = []) => refuseWithoutCertificate(options, account, furtherRoles),

    setUpLink: (secret) => records.setUpLinks.find(setUpDigest(secret), timestamp(now())),

    async setPassword(secret, password, { requestId, endTokens }) {
      const digest = setUpDigest(secret);
      const account = await records.setUpLinks.find(digest, timestamp(now()));
      if (account === undefined) throw expiredLinkRefusal();
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
    "This needs a one-time password, but the account does not use them. Set them up with 'larder account totp' on the host.",
  );

const mustHaveOne = ({ id }: Account): Refusal =>
  new Refusal(
    'twofactor-required',
    `This store requires a one-time password for administrators, but your account does not use them. Set them up with 'larder account totp ${id}' on the host.`,
  );

/** Paper can be copied unnoticed, so a recovery code only logs its owner in and is no proof for further actions. */
const noRecoveryCode = (): Refusal =>
  new Refusal('twofactor-failure', 'This needs a code from your authenticator. A recovery code works only to log in.');

export const unacknowledged = (): Refusal =>
  new Refusal(
    'forbidden',
    'The notice of this store must be acknowledged before each login. Log in on the page of the store in a browser, and acknowledge it there.',
  );

/** Refuses an account if its roles require a login with a client certificate. */
export async function refuseWithoutCertificate(
  { records, certificateRoles = () => [] }: Pick<LoginOptions, 'records' | 'certificateRoles'>,
  { id, username }: Pick<Account, 'id' | 'username'>,
  furtherRoles: readonly string[],
): Promise<void> {
  if (certificateRoles().length === 0) return;
  const roles = [...(await records.accounts.rolesOf(id)), ...furtherRoles];
  if (!demandsCertificate(roles, certificateRoles())) return;
  throw new Refusal(
    'forbidden',
    `The role of '${username}' requires a login with a client certificate. Choose 'Log in with a certificate' on the login ` +
      'page of the store in a browser.',
  );
}

/** The refusals of a login with a password. */
export const loginRefusals = [
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'forbidden',
  'login-expired',
  'too-many-requests',
] as const;

type LoginContext = LoginOptions & { backOff: BackOff };
type CredentialsWithout<Secret extends keyof LoginCredentials> = Omit<LoginCredentials, Secret>;

async function checkPassword(
  parts: LoginContext,
  credentials: LoginCredentials,
): Promise<{ account: ProvenAccount; needsOneTimePassword: boolean }> {
  const { records, passwords, backOff } = parts;
  const { name, password, address } = credentials;
  if (credentials.acknowledged !== true && parts.requiresAcknowledgement?.() === true) throw unacknowledged();
  const account = await records.accounts.logsInAs(name);
  const storedPassword = account && (await records.passwords.find(account.id));
  const attempt = attemptOf(account, name, address);
  await backOff.check(attempt, storedPassword?.changedAt);
  const turn = { client: clientOf(address), isFamiliar: await backOff.isFamiliar(attempt) };
  const { right, stale } = await passwords.verify(password, storedPassword?.hash, turn);
  if (account === undefined || storedPassword === undefined || !right) {
    await failed(parts, credentials, account);
    throw wrongCredentials();
  }
  if (stale) await rehash(parts, { account, before: storedPassword.hash }, credentials);
  // Within a session its login has proven the certificate.
  if (credentials.sessionId === undefined) await refuseWithoutCertificate(parts, account, []);
  const needsOneTimePassword = (await records.totpSecrets.find(account.id)) !== undefined;
  return { account: { ...account, passwordSetAt: storedPassword.changedAt }, needsOneTimePassword };
}

async function finish(
  parts: LoginContext,
  account: ProvenAccount,
  credentials: CredentialsWithout<'password'>,
): Promise<void> {
  const { acts, backOff, records } = parts;
  const { name, address, requestId, sessionId } = credentials;
  const attempt = attemptOf(account, name, address);
  try {
    const oneTimePassword = await proveOneTimePassword(parts, { account, attempt }, credentials);
    const { id: accountId, passwordSetAt } = account;
    const loginInput = { accountId, passwordSetAt, oneTimePassword, address, provenSession: sessionId };
    // The act reads the failures of the account from the records.
    await records.writeCounters();
    await acts.do(logIn, { actor: accountId, sessionId: sessionId ?? null, requestId }, loginInput);
  } catch (error) {
    // The code is wrong, or another request has just used it.
    if (error instanceof Refusal && error.code === 'twofactor-failure') await failed(parts, credentials, account);
    throw error;
  }
  await backOff.succeeded(attempt);
}

/** The proof of the one-time password; undefined if the account uses none. */
async function proveOneTimePassword(
  { records, siteKey, now, backOff, requiresTotp }: LoginContext,
  { account, attempt }: { account: Account; attempt: LoginAttempt },
  { oneTimePassword }: CredentialsWithout<'password'>,
): Promise<OneTimePasswordProof | undefined> {
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

/** The sealed secret, and the time step of the code or the digest of the recovery code. */
type OneTimePasswordProof = { secret: string; step: number } | { secret: string; recovery: string };

/**
 * Counts a failure. The audit log gets one entry per account or address when its back-off begins, not one per failure: so an
 * attacker can neither fill the log nor find out by response time whether an account exists.
 */
async function failed(
  { acts, backOff, records, now }: LoginContext,
  { name, address, requestId }: CredentialsWithout<'password' | 'oneTimePassword'>,
  account: Account | undefined,
): Promise<void> {
  if (account !== undefined) records.countEvent('login-failed', account.id, timestamp(now()));
  for (const limitReached of await backOff.failed(attemptOf(account, name, address))) {
    const accountId = limitReached === 'name' ? account?.id : undefined;
    await acts.do(delayLogins, { actor: 'unknown', requestId }, { accountId, address, putOff: limitReached });
  }
}

async function rehash(
  { acts, passwords }: LoginContext,
  { account, before }: { account: Account; before: string },
  { password, requestId }: LoginCredentials,
): Promise<void> {
  const hash = await passwords.hash(password);
  await acts.do(rehashPassword, { actor: account.id, requestId }, { id: account.id, before, hash });
}

/** All names of an account share one count; else each name would allow further guesses. */
const attemptOf = (account: Account | undefined, name: string, address: string): LoginAttempt => ({
  who: account === undefined ? { name } : { accountId: account.id },
  address,
});
