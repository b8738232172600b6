// Job that checks the certificates of sessions of the console again, by the present files, and ends sessions with a certificate that
// is revoked, has expired or no longer names the account. A session that cannot be checked ends after one hour.
import { X509Certificate } from '#domain/cryptography.ts';
import { itself, type Acts } from '#acts/act.ts';
import { endCertificateSession } from '#acts/login/certificate-logins.ts';
import { hours, minutes, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { CertificateSession } from '#records/login/certificate-sessions.ts';
import type { BackgroundJob } from '../runner.ts';

/** Why a session cannot continue; undefined if it can. */
export type SessionCheck = (session: {
  accountId: string;
  certificate: X509Certificate;
}) => Promise<{ because: string; isCertain: boolean } | undefined>;

export interface CertificateConfirmationOptions {
  records: StoreRecords;
  acts: Acts;
  latestTime: LatestTime;
  check: SessionCheck;
}

/** A later confirmation is recorded at most this often. */
const recordAfter = minutes(15);
const validFor = hours(1);
/** Maximum sessions per run, because the other jobs of a process wait. */
const maxSessions = 500;

export const confirmCertificateLogins = ({
  records,
  acts,
  latestTime,
  check,
}: CertificateConfirmationOptions): BackgroundJob => ({
  name: 'confirm-certificate-logins',
  inDoubt: 'waits',
  every: minutes(1),

  async run() {
    const now = latestTime.now();
    const end = async ({ sessionId, accountId }: CertificateSession, reason: string): Promise<void> => {
      await acts.do(endCertificateSession, itself, { id: accountId, session: sessionId, reason });
      await records.ephemeral((tx) => tx.certificateSessions.remove(sessionId));
    };
    const counts = { confirmed: 0, ended: 0, unchecked: 0 };
    for (const session of await records.certificateSessions.due(timestamp(now), maxSessions)) {
      const certificate = new X509Certificate(Buffer.from(session.certificate, 'base64'));
      const problem = await check({ accountId: session.accountId, certificate });
      const age = now.getTime() - Date.parse(session.confirmedAt);
      if (problem === undefined) {
        if (age >= recordAfter)
          await records.ephemeral((tx) => tx.certificateSessions.confirm(session.sessionId, timestamp(now)));
        counts.confirmed++;
      } else if (problem.isCertain || age >= validFor) {
        await end(session, problem.because);
        counts.ended++;
      } else counts.unchecked++;
    }
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  },
});
