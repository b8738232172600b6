// Logins with the OpenID provider of the site. The browser keeps the secrets of a login that is in progress in a sealed cookie, so that
// only the browser that began it can finish it, and the store keeps nothing for logins that never return.
import { randomBytes } from '#domain/cryptography.ts';

import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import {
  acceptOpenidLogin,
  createOpenidAccount,
  endOpenidSessions,
  notLinked,
} from '#acts/accounts/openid-identities.ts';
import type { OpenidLogins, OpenidTarget, ProvenSession } from '#http/identity-provider.ts';
import type { OidcSettings } from '#configuration/config.ts';
import { clientOf } from '#domain/client.ts';
import { after, minutes, timestamp, type Now } from '#domain/clock.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal, withCause } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';
import { browserLoginLifeMs } from '../login/browser-login.ts';
import { refuseWithoutCertificate } from '../login/logins.ts';
import { digestOf, loginExpired } from '../login/login-proofs.ts';
import { isStored, rolesOfGroups, type Confirmations } from './confirmations.ts';
import { readAccountDetails, readGroups } from './claims.ts';
import type { VerifiedLogout } from './logout-token.ts';
import {
  LoginNotConfirmed,
  toleranceSeconds,
  type ConfirmedPerson,
  type LoginSecrets,
  type OpenidProvider,
} from './provider.ts';
import { ProviderUnavailable } from './provider-requests.ts';

export interface OpenidLoginOptions {
  records: StoreRecords;
  acts: Acts;
  siteKey: Buffer;
  now: Now;
  newId: NewIds;
  settings: () => OidcSettings;
  baseUrl: () => string;
  provider: OpenidProvider;
  log: Logger;
  confirmations: Pick<Confirmations, 'accept' | 'end'>;
  /** The roles that require a login with a client certificate. */
  certificateRoles: () => readonly string[];
}

interface PendingOpenidLogin extends LoginSecrets {
  target: OpenidTarget;
  issuer: string | undefined;
  /** Milliseconds since the epoch. */
  begunAt: number;
  endsAt: number;
}

export const callbackAddress = '/identity/openid/callback';

const pendingPurpose = 'login with the OpenID provider';

export function createOpenidLogins(options: OpenidLoginOptions): OpenidLogins {
  const { records, siteKey, now, settings, baseUrl, provider } = options;
  const inTurn = createConcurrencyLimit({
    concurrency: 8,
    waiting: { atMost: 64, ofClient: 8, refusal: 'Too many logins are in progress. Try again in a few seconds.' },
  });

  const open = (sealed: string): PendingOpenidLogin => {
    try {
      const pending = JSON.parse(unseal(siteKey, sealed, pendingPurpose).toString()) as PendingOpenidLogin;
      // A code of one provider is never sent to another.
      if (pending.endsAt > now().getTime() && pending.issuer === settings().issuer) return pending;
    } catch {
      // A cookie of another store, or a forged one.
    }
    throw loginExpired();
  };

  return {
    async begin(target, address) {
      const secrets = { state: newSecret(), nonce: newSecret(), verifier: newSecret() };
      const turn = { client: clientOf(address), isFamiliar: false };
      const url = await explained(options, () =>
        inTurn(() => provider.authorizationUrl(baseUrl() + callbackAddress, secrets, 'proves' in target), turn),
      );
      const pending: PendingOpenidLogin = {
        ...secrets,
        target,
        issuer: settings().issuer,
        begunAt: now().getTime(),
        endsAt: now().getTime() + browserLoginLifeMs,
      };
      return { url: url.href, pending: seal(siteKey, Buffer.from(JSON.stringify(pending)), pendingPurpose) };
    },

    async finish({ search, pending: sealed, address, requestId }) {
      const pending = open(sealed);
      const callback = new URL(callbackAddress + search, baseUrl());
      if (callback.searchParams.get('state') !== pending.state) throw loginExpired();
      // Also the code of a failed attempt is not sent a second time.
      const digest = digestOf(pending.state);
      const isFirst = await records.ephemeral((tx) => tx.openidLogins.use(digest, timestamp(new Date(pending.endsAt))));
      if (!isFirst) throw loginExpired();
      const turn = { client: clientOf(address), isFamiliar: false };
      const person = await explained(options, () => inTurn(() => provider.exchange(callback, pending), turn));
      const { target } = pending;
      const account = await ('proves' in target
        ? explained(options, () => proveAgain(options, person, { ...target.proves, ...pending, address, requestId }))
        : logIn(options, person, { address, requestId }));
      return { account, target, sessionId: person.sessionId, canRefresh: isStored(person) };
    },

    async endSessions(logoutToken, address) {
      if (settings().issuer === undefined)
        throw new Refusal('resource-not-found', 'This store has no OpenID provider.');
      const turn = { client: clientOf(address), isFamiliar: false };
      const logout = await explained(options, () => inTurn(() => provider.verifyLogout(logoutToken), turn));
      const digest = digestOf(`logout ${logout.id}`);
      const endsAt = timestamp(after(now(), minutes(15)));
      if (!(await records.ephemeral((tx) => tx.openidLogins.use(digest, endsAt)))) throw loginExpired();
      await endLogout(options, logout);
    },
  };
}

/** Ends one login at the provider, or all logins of a person if the logout names no single one. */
async function endLogout(
  { records, acts, settings, confirmations }: OpenidLoginOptions,
  { sessionId, subject }: VerifiedLogout,
): Promise<void> {
  const { issuer = '' } = settings();
  if (sessionId === undefined) return subject === undefined ? undefined : confirmations.end(issuer, subject);
  const sessions = await records.openidLogins.sessionsOfLogin(sessionId);
  for (const [id, ended] of Map.groupBy(sessions, ({ accountId }) => accountId)) {
    const identity = await records.openidIdentities.of(id);
    if (subject !== undefined && identity?.subject !== subject) continue;
    await acts.do(endOpenidSessions, itself, { id, sessions: ended.map((session) => session.sessionId) });
  }
}

/** Records that the person of a session has entered their credentials at the provider again, since the store asked for it. */
async function proveAgain(
  { records, acts, now, confirmations }: OpenidLoginOptions,
  person: ConfirmedPerson,
  {
    accountId,
    sessionId,
    begunAt,
    address,
    requestId,
  }: ProvenSession & Pick<PendingOpenidLogin, 'begunAt'> & { address: string; requestId: string },
): Promise<Account> {
  const { issuer, subject, authenticatedAt: at = NaN } = person;
  const isFresh = at >= begunAt / 1000 - toleranceSeconds && at <= now().getTime() / 1000 + toleranceSeconds;
  if (!isFresh) {
    const cause = new Error('the person has not entered their credentials again');
    throw new LoginNotConfirmed('the OpenID provider did not confirm a login', { cause });
  }
  const account = await records.accounts.find(accountId);
  const linked = await records.openidIdentities.find(issuer, subject);
  if (account === undefined || linked?.accountId !== accountId) {
    const message = 'This is the login of another person than that of your session here. Log in again as yourself.';
    throw new Refusal('invalid-credentials', message);
  }
  const provenAt = timestamp(new Date(Math.min(at * 1000, now().getTime())));
  const actor = { actor: accountId, sessionId, requestId };
  await acts.do(acceptOpenidLogin, actor, { accountId, issuer, subject, address, proven: { sessionId, provenAt } });
  await confirmations.accept(accountId, person);
  return account;
}

/** Finds or creates the account of a confirmed person, and records the login. */
async function logIn(
  options: OpenidLoginOptions,
  person: ConfirmedPerson,
  { address, requestId }: { address: string; requestId: string },
): Promise<Account> {
  const { records, acts, newId, settings, confirmations } = options;
  const { issuer, subject, claims } = person;
  // Before an account is created: a login without readable groups is refused.
  const roles = rolesOfGroups(readGroups(claims, settings()), settings()).map(({ role }) => role);
  const linked = await records.openidIdentities.find(issuer, subject);
  let account = linked && (await records.accounts.find(linked.accountId));
  if (account === undefined) {
    if (settings().accounts !== 'create') throw notLinked(subject);
    const details = { ...readAccountDetails(claims, settings()), id: newId.id(), idMadeHere: true };
    await refuseWithoutCertificate(options, details, roles);
    const actor = { actor: details.id, requestId };
    account = await acts.do(createOpenidAccount, actor, { account: details, issuer, subject });
  }
  const { id: accountId } = account;
  await refuseWithoutCertificate(options, account, roles);
  await acts.do(acceptOpenidLogin, { actor: accountId, requestId }, { accountId, issuer, subject, address });
  await confirmations.accept(accountId, person);
  return account;
}

/** Turns failures of the provider into refusals. The reason is in the log, without the token. */
async function explained<Result>(
  { settings, log }: Pick<OpenidLoginOptions, 'settings' | 'log'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderUnavailable) {
      const message = `Logins with ${settings().name} are not possible at the moment. Try again in a minute, or log in with a password of this store.`;
      throw withCause(error, new Refusal('remote-service-unavailable', message, 60));
    }
    if (error instanceof LoginNotConfirmed) {
      log.warn({ because: error.reason }, 'a login with the OpenID provider was not confirmed');
      const message = `The login with ${settings().name} was not confirmed. Start again.`;
      throw withCause(error, new Refusal('invalid-credentials', message));
    }
    throw error;
  }
}

const newSecret = (): string => randomBytes(32).toString('base64url');
