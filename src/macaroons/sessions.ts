// Sessions: a token is valid until its session ends or expires. The session of a login begins when the login is used first.
import type { Acts } from '#acts/act.ts';
import { exchangeLogin, notThisAccount } from '#acts/tokens/tokens.ts';
import { timestamp } from '#domain/clock.ts';
import { demandsCertificate } from '#domain/accounts/role.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Session } from '#records/tokens/macaroons.ts';
import { restrictingCaveats } from './caveats.ts';
import type { LatestTime } from './latest-time.ts';
import type { DischargedLogin } from './login.ts';

/** The client that exchanges a login; empty if the login itself is used as a token. */
export interface ExchangeClient {
  address?: string;
  requestId?: string | null;
}

export interface Sessions {
  /** The session of a token; refuses if there is none in force. */
  find(sessionId: string, rootKeyId: string): MaybePromise<Session>;
  /** The session of a login, which begins if there is none yet. */
  ofLogin(login: DischargedLogin): Promise<Session>;
  /** Begins the session of a login. */
  begin(login: DischargedLogin, use: ExchangeClient, description: string | null): Promise<void>;
}

export interface SessionOptions {
  records: Pick<StoreRecords, 'accounts' | 'macaroons'>;
  acts: Acts;
  latestTime: LatestTime;
  /** Whether the current configuration requires one-time passwords of administrators. */
  requiresTotp: () => boolean;
  /** The roles that require a login with a client certificate. */
  certificateRoles: () => readonly string[];
}

/** Refuses with the reason why a session has ended: if the account is disabled, another login does not help. */
async function refuseEnded({ macaroons }: Pick<StoreRecords, 'macaroons'>, sessionId: string): Promise<never> {
  const isDisabled = await macaroons.isOfDisabledAccount(sessionId);
  throw new Refusal(
    'macaroon-authorization-required',
    isDisabled
      ? 'The account of this macaroon is disabled; an administrator of the store can enable it.'
      : 'The macaroon has been revoked; log in again.',
  );
}

/** Thrown for a session with a weaker login than the configuration now requires of the account. */
export class InsufficientLogin extends Refusal {
  constructor(message: string) {
    super('macaroon-authorization-required', message);
  }
}

const missingTotp = ({ accountId }: Session): InsufficientLogin =>
  new InsufficientLogin(
    `This store asks its administrators for a one-time password, and the account ${accountId} has none. ` +
      `Set one with 'larder account totp ${accountId}' on the host.`,
  );

const missingCertificate = ({ username }: Session): InsufficientLogin =>
  new InsufficientLogin(
    `The role of '${username}' requires a login with a client certificate. Log in again with the certificate, or issue a ` +
      "token with 'larder token issue' on the host.",
  );

export function createSessions(options: SessionOptions): Sessions {
  const { records, acts, latestTime, requiresTotp, certificateRoles } = options;
  /** Checked at each use: the setting, or the role, may be newer than the session. */
  const withProof = (session: Session): MaybePromise<Session> => {
    if (requiresTotp() && session.storeAdministrator === 1 && session.hasTotp === 0) throw missingTotp(session);
    if (session.provenBy !== null || certificateRoles().length === 0) return session;
    return withoutRule(session);
  };
  const withoutRule = async (session: Session): Promise<Session> => {
    const roles = await records.accounts.rolesOf(session.accountId);
    if (demandsCertificate(roles, certificateRoles())) throw missingCertificate(session);
    return session;
  };

  const begin: Sessions['begin'] = async (login, { address, requestId = null }, description) => {
    const { terms, rootKeyId, discharge, version, caveats } = login;
    const account = await records.accounts.logsInAs(discharge.username);
    if (account === undefined || account.username !== discharge.username) throw notThisAccount();
    const since = terms.since === -Infinity ? latestTime.now() : new Date(terms.since);
    const session = {
      sessionId: terms.sessionId,
      accountId: account.id,
      rootKeyId,
      description,
      validSince: timestamp(since),
      validUntil: timestamp(new Date(terms.until)),
      // Channels of the first release have another syntax than those of tokens that are issued now.
      conditions: version === '2' ? JSON.stringify(restrictingCaveats(caveats)) : null,
      provenBy: discharge.byCertificate ? ('certificate' as const) : null,
    };
    await acts.do(exchangeLogin, { actor: account.id, requestId }, { session, issued: terms.issued, address });
  };

  const find: Sessions['find'] = (sessionId, rootKeyId) =>
    whenReady(records.macaroons.session(sessionId, rootKeyId), (session) =>
      session === undefined ? refuseEnded(records, sessionId) : withProof(session),
    );

  return {
    find,
    begin,

    async ofLogin(login) {
      const { terms, rootKeyId, discharge, description } = login;
      let session = await records.macaroons.session(terms.sessionId, rootKeyId);
      if (session === undefined) {
        await begin(login, {}, description);
        session = await find(terms.sessionId, rootKeyId);
      }
      if (discharge.username !== session.username) throw notThisAccount();
      return withProof(session);
    },
  };
}
