// Builds the logins with client certificates, and the server that browsers present their certificates to. It offers nothing else.
import { noSessionTickets } from '#domain/cryptography.ts';

import type { ConnectionLimits } from '#http/connection-limits.ts';
import type { CertificateLogins } from '#http/identity-provider.ts';
import { createServer, isTlsServer, type ServerOptions } from '#http/server.ts';
import { createCertificateLogins, problemOfSession } from '#identity/certificates/logins.ts';
import { createCertificateTrust, type CertificateTrust, type TrustMaterial } from '#identity/certificates/trust.ts';
import { certificateOperations } from '#identity/operations.ts';
import type { SessionCheck } from '#jobs/accounts/confirm-certificate-logins.ts';
import { secureContext } from '#tls/settings.ts';
import type { Certificate } from './certificate.ts';
import { followConnections } from './draining.ts';
import { close, listen } from './listening.ts';
import type { ApplianceParts } from './parts.ts';
import type { Current } from './settings.ts';
import type { Storage } from './storage.ts';

export interface CertificateLoginParts {
  logins: CertificateLogins;
  trust: CertificateTrust;
  /** Checks the certificate of a session again. */
  check: SessionCheck;
  /** Called with the port of the server once it listens. */
  listensAt(port: number): void;
}

export function buildCertificateLogins(
  { store, health, log }: Pick<Storage, 'store' | 'health' | 'log'>,
  current: Current,
): CertificateLoginParts {
  const { records, acts, siteKey, now } = store;
  let port = 0;
  const settings = () => current().config.identity.certificates;
  const trust = createCertificateTrust({ settings, now });
  health.watchAll('certificate-logins', () => trust.faults());
  const options = { records, acts, siteKey, now, settings, trust, log };
  const baseUrl = () => current().config.http.base_url;
  return {
    logins: createCertificateLogins({ ...options, baseUrl, port: () => port }),
    trust,
    check: (session) => problemOfSession(options, session),
    listensAt: (actual) => {
      port = actual;
    },
  };
}

interface CertificateServerParts {
  certificateLogins: CertificateLoginParts;
  certificate: Certificate;
  current: Current;
  services: ServerOptions['services'];
  connections: ConnectionLimits;
}

/** Starts the server if the configuration has an address for it. */
export async function startCertificateServer(parts: ApplianceParts, made: CertificateServerParts): Promise<void> {
  const { certificateLogins, certificate, current, services, connections } = made;
  const { listen: where } = current().config.identity.certificates;
  if (where === undefined) return;
  await parts.start(
    'certificate server',
    async () => {
      const { trust } = certificateLogins;
      const material = trust.material();
      const { server, settled } = createServer({
        operations: certificateOperations,
        services,
        checkAnswers: false,
        connections,
        tls: { ...contextOf(certificate, material), requestCert: true, rejectUnauthorized: false },
      });
      // Each login is a new handshake, with the card in its place and with the files of that moment.
      server.maxRequestsPerSocket = 1;
      followFiles(server, certificate, trust, material);
      const drain = followConnections(server);
      certificateLogins.listensAt(Number(new URL(await listen(server, where)).port));
      return { settled, drain };
    },
    ({ settled, drain }) => close({ settled }, () => drain({ minutes: 0, elapsed: () => performance.now() })),
  );
}

const contextOf = (certificate: Certificate, { ca, crl }: TrustMaterial) => ({
  ...secureContext(certificate.current()),
  ca,
  ...(crl !== undefined && { crl }),
  secureOptions: noSessionTickets,
});

/** Before each handshake: looks whether the authorities, the revocation lists or the certificate of the server have changed. */
function followFiles(server: object, certificate: Certificate, trust: CertificateTrust, first: TrustMaterial): void {
  if (!isTlsServer(server)) return;
  let [material, own] = [first, certificate.current()];
  server.prependListener('connection', () => {
    const fresh = trust.material();
    if (fresh === material && own === certificate.current()) return;
    [material, own] = [fresh, certificate.current()];
    server.setSecureContext(contextOf(certificate, fresh));
  });
}
