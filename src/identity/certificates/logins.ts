// Logins with client certificates. The browser keeps the target of a login that is in progress in a sealed cookie, so that only the browser
// that began it can finish it.
import { randomBytes, type X509Certificate } from '#domain/cryptography.ts';

import type { Logger } from 'pino';

import type { Acts } from '#acts/act.ts';
import { acceptCertificateLogin, unknownCertificate } from '#acts/login/certificate-logins.ts';
import type { CertificateSettings } from '#configuration/config.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { CertificateLogins, LoginTarget, PresentedCertificate } from '#http/identity-provider.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';
import { browserLoginLifeMs } from '../login/browser-login.ts';
import { digestOf, loginExpired } from '../login/login-proofs.ts';
import { readAccountName, type AccountName } from './client-certificate.ts';
import type { CertificateTrust } from './trust.ts';

export interface CertificateLoginOptions {
  records: StoreRecords;
  acts: Acts;
  siteKey: Buffer;
  now: Now;
  settings: () => CertificateSettings;
  baseUrl: () => string;
  /** The port that browsers present their certificates to. */
  port: () => number;
  trust: CertificateTrust;
  log: Logger;
}

interface PendingCertificateLogin {
  target: LoginTarget;
  state: string;
  /** Milliseconds since the epoch. */
  endsAt: number;
}

export const certificateAddress = '/identity/certificates/login';

const pendingPurpose = 'login with a client certificate';

export function createCertificateLogins(options: CertificateLoginOptions): CertificateLogins {
  const { records, acts, siteKey, now, baseUrl, port } = options;

  const open = (sealed: string): PendingCertificateLogin => {
    try {
      const pending = JSON.parse(unseal(siteKey, sealed, pendingPurpose).toString()) as PendingCertificateLogin;
      if (pending.endsAt > now().getTime()) return pending;
    } catch {
      // A cookie of another store, or a forged one.
    }
    throw loginExpired();
  };

  return {
    begin(target) {
      const pending: PendingCertificateLogin = {
        target,
        state: randomBytes(32).toString('base64url'),
        endsAt: now().getTime() + browserLoginLifeMs,
      };
      const url = new URL(certificateAddress, baseUrl());
      url.port = String(port());
      return { url: url.href, pending: seal(siteKey, Buffer.from(JSON.stringify(pending)), pendingPurpose) };
    },

    async finish({ presented, pending: sealed, address, requestId }) {
      const { target, state, endsAt } = open(sealed);
      const certificate = requireAccepted(options, presented);
      const { account, name } = await findAccount(options, certificate);
      const isFirst = await records.ephemeral((tx) =>
        tx.openidLogins.use(digestOf(`certificate ${state}`), timestamp(new Date(endsAt))),
      );
      if (!isFirst) throw loginExpired();
      const actor = { actor: account.id, requestId };
      const login = { accountId: account.id, name, address, ...describe(certificate) };
      await acts.do(acceptCertificateLogin, actor, login);
      return { account, target, certificate, maxAgeMs: certificate.validToDate.getTime() - now().getTime() };
    },
  };
}

/** Returns the certificate if OpenSSL has verified it and the files of the store accept it now. */
function requireAccepted(
  { trust, log }: CertificateLoginOptions,
  { certificate, problem }: PresentedCertificate,
): X509Certificate {
  if (certificate === undefined) {
    throw new Refusal(
      'invalid-credentials',
      'The browser has presented no certificate. Insert your card, close all windows of the browser, and log in again.',
    );
  }
  const because = trust.problemOf(certificate)?.because ?? (problem && `its verification failed (${problem})`);
  if (because === undefined) return certificate;
  log.warn({ because, ...describe(certificate) }, 'a login with a client certificate was refused');
  throw notAccepted(because);
}

/** The account that the certificate names. */
async function findAccount(
  { records, settings, log }: Pick<CertificateLoginOptions, 'records' | 'settings' | 'log'>,
  certificate: X509Certificate,
): Promise<{ account: Account; name: AccountName }> {
  const name = readAccountName(certificate, settings());
  if ('problem' in name) throw notAccepted(name.problem);
  // A user name is never empty, and neither is an e-mail address.
  const accounts = await records.accounts.ownNamed({ username: '', email: '', ...name });
  const [account] = accounts;
  if (account !== undefined && accounts.length === 1) return { account, name };
  log.warn({ accounts: accounts.length, ...describe(certificate) }, 'a client certificate does not name one account');
  throw unknownCertificate();
}

/** Why a session that began with this certificate cannot continue; undefined if it can. */
export async function problemOfSession(
  options: Pick<CertificateLoginOptions, 'records' | 'settings' | 'trust' | 'log'>,
  { accountId, certificate }: { accountId: string; certificate: X509Certificate },
): Promise<{ because: string; isCertain: boolean } | undefined> {
  if (options.settings().listen === undefined)
    return { because: 'logins with certificates are turned off', isCertain: true };
  const problem = options.trust.problemOf(certificate);
  if (problem !== undefined) return problem;
  try {
    const { account } = await findAccount(options, certificate);
    if (account.id === accountId) return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return { because: 'it no longer names the account', isCertain: true };
}

const notAccepted = (because: string): Refusal =>
  new Refusal(
    'invalid-credentials',
    `The certificate was not accepted: ${because}. To choose another one, close all windows of the browser first.`,
  );

/** The issuer and the serial number, for the audit log and the log. */
const describe = ({ issuer, serialNumber }: Described): { issuer: string; serial: string } => ({
  issuer: (issuer ?? '').replaceAll('\n', ', ').slice(0, 500),
  serial: serialNumber.slice(0, 128),
});

/** An empty name is undefined, other than the types of Node say. */
interface Described {
  issuer?: string;
  serialNumber: string;
}
