// Examines the certificate of the server.
import { X509Certificate } from '#domain/cryptography.ts';
import { formatCount } from '#domain/quantities.ts';
import { days } from '#domain/clock.ts';
import { readCertificates } from '#tls/keeper.ts';
import { createCertificateTrust } from '#identity/certificates/trust.ts';
import { speaksTls, tlsSettings, type ServerTls } from '#tls/settings.ts';
import { siteFiles, siteProblems } from '#tls/site.ts';
import type { Config } from '#configuration/config.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { findingOfFaults, well, wrong, type Examination, type ExaminationFinding } from './examination.ts';

export const certificate: Examination = {
  subject: 'Certificate',
  look({ data, config }) {
    const settings = config();
    if (!speaksTls(settings)) return plain(settings);
    const tls = readCertificates(data, tlsSettings(settings));
    if (tls === undefined) return well('the certificates are made at the next start');
    const left = Math.floor((tls.ends.getTime() - Date.now()) / days(1));
    const says = `for ${tls.hosts.join(', ')}, ${formatCount(left, 'day')} left; fingerprint ${tls.fingerprint}`;
    const own = expiryFaults(certificateEnds(tls), new Date());
    const faults = [...own, ...loginFaults(settings)];
    const finding = findingOfFaults(faults, says);
    const files = siteFiles(tlsSettings(settings));
    const problems = files ? siteProblems(files, tlsSettings(settings).hosts, () => new Date()) : [];
    const others = own.length === 0 ? problems : problems.filter((problem) => !problem.includes(' ended on '));
    if (others.length === 0) return finding;
    const mend = "Put a new certificate into the site's files and send the server SIGHUP.";
    const before = faults.length === 0 ? '' : `${finding.says}; `;
    return wrong(`${before}the site's certificate: ${others.join('; ')}`, mend);
  },
};

/** The files of logins with client certificates that cannot be used. */
const loginFaults = ({ identity }: Config): Fault[] =>
  createCertificateTrust({ settings: () => identity.certificates, now: () => new Date() }).faults();

/**
 * A certificate is reported this many days before its end: as a notice, and as a problem. The store renews its own certificate at 30 days.
 */
export const noticeDays = { site: 30, own: 25 };
export const problemDays = 5;

/** The ends of the certificates of a chain. */
export interface CertificateEnds {
  own: boolean;
  certificates: { whose: string; ends: Date; isAuthority: boolean }[];
}

const parsedChains = new WeakMap<CertificateChain, CertificateEnds>();

/** Returns the ends of a chain and of its authority; parses a chain once while it is in use. */
export function certificateEnds(chain: CertificateChain): CertificateEnds {
  const ends = parsedChains.get(chain) ?? parseChain(chain);
  parsedChains.set(chain, ends);
  return ends;
}

function parseChain({ certificate: chain, authority, own }: CertificateChain): CertificateEnds {
  const certificates = certificatesIn(`${chain}${authority ?? ''}`).map(({ subject, validToDate: ends }, at) => ({
    whose:
      at === 0
        ? "The server's certificate"
        : `The certificate of the authority '${/(?:^|\n)CN=(.*)/.exec(subject)?.[1] ?? 'without a name'}'`,
    ends,
    isAuthority: at > 0,
  }));
  return { own, certificates };
}

/** Certificates that expire soon or have expired. */
export const expiryFaults = ({ own, certificates }: CertificateEnds, now: Date): Fault[] =>
  certificates.flatMap(({ whose, ends, isAuthority }) => {
    const left = ends.getTime() - now.getTime();
    if (left > days(own && !isAuthority ? noticeDays.own : noticeDays.site)) return [];
    const facts = {
      whose,
      ends: ends.toISOString().slice(0, 10),
      days: Math.floor(left / days(1)),
      renewal: renewalOf(own, isAuthority),
    };
    return [describeFault(left <= days(problemDays) ? 'certificate-expired' : 'certificate-expires', facts)];
  });

type CertificateChain = Pick<ServerTls, 'certificate' | 'authority' | 'own'>;

const renewalOf = (own: boolean, isAuthority: boolean): 'site' | 'own' | 'authority' =>
  own ? (isAuthority ? 'authority' : 'own') : 'site';

/** The distinct certificates of a text, in order. */
function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(blocks)].map((block) => new X509Certificate(block));
}

function plain({ http }: Config): ExaminationFinding {
  const [, host = ''] = /^(.+):\d+$/.exec(http.listen) ?? [];
  return /^(?:127\.|localhost$|\[::1\]$)/.test(host)
    ? well('plain http, on this machine alone')
    : wrong(
        `plain http on ${http.listen}: tokens can be read on the network`,
        'Set http.base_url to an https address, or listen on 127.0.0.1 behind a proxy that speaks TLS.',
      );
}
