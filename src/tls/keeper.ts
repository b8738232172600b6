// Keeps the certificates of the server. Below `DIRECTORY/tls`, created when they are first needed:
//
//   ca.pem        the store's own certificate authority, which clients trust
//   ca.key        its private key, sealed under the site key
//   server.pem    the server's certificate
//   server.key    its private key, sealed
//
// or the site's own files, if the configuration names them; see site.ts.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { days, type Now } from '#domain/clock.ts';
import { readIfPresent } from '#files/read.ts';
import {
  comparable,
  fingerprint,
  hostsOf,
  makeAuthority,
  makeServerCertificate,
  type CertificateWithKey,
} from './certificates.ts';
import type { ServerTls, TlsSettings } from './settings.ts';
import { siteFiles, siteTls } from './site.ts';

/** A server certificate is replaced when it expires within this many milliseconds. */
export const renewBefore = days(30);

export interface TlsKeeperOptions {
  directory: string;
  now: Now;
  /** Seals and opens secrets. */
  seal: (secret: Buffer, purpose: string) => string;
  unseal: (text: string, purpose: string) => Buffer;
  /** Writes a file durably, and replaces an existing one. */
  write: (file: string, content: string, mode: number) => void;
  /** Whether to renew a certificate before it expires; default true, false if another process does. */
  renews?: boolean;
}

/** Reads the server's certificate and key; creates or renews those of the store's own authority. */
export async function prepareTls(
  settings: TlsSettings,
  keeping: TlsKeeperOptions,
): Promise<ServerTls & { renewed: boolean }> {
  const site = siteFiles(settings);
  if (site !== undefined) return { ...siteTls(site), renewed: false };
  const folder = join(keeping.directory, 'tls');
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  const hosts = [...new Set(settings.hosts.map(comparable))];
  const authorityPair = readPair(folder, 'ca', keeping);
  const authority = authorityPair ?? (await makeAuthority(`larder at ${hosts[0] ?? 'this site'}`, keeping.now()));
  if (authorityPair === undefined) writePair(folder, 'ca', authority, keeping);

  const serverPair = authorityPair && readPair(folder, 'server', keeping);
  const isGood = ({ certificate }: CertificateWithKey): boolean =>
    keeping.renews === false || stillGood(certificate, authority.certificate, hosts, keeping.now());
  const good = serverPair !== undefined && isGood(serverPair);
  const server = good ? serverPair : await makeServerCertificate(authority, hosts, keeping.now());
  if (!good) writePair(folder, 'server', server, keeping);
  return { ...described(server, authority.certificate), renewed: !good };
}

/** Reads the existing certificates and changes nothing; undefined if there are none yet. */
export function readCertificates(directory: string, settings: TlsSettings): Omit<ServerTls, 'key'> | undefined {
  const site = siteFiles(settings);
  if (site !== undefined) return siteTls(site);
  const server = readIfPresent(join(directory, 'tls', 'server.pem'));
  const authority = readIfPresent(join(directory, 'tls', 'ca.pem'));
  return server === undefined || authority === undefined
    ? undefined
    : described({ certificate: server, key: '' }, authority);
}

function described({ certificate, key }: CertificateWithKey, authority: string): ServerTls {
  const ends = new Date(new X509Certificate(certificate).validTo);
  return {
    certificate: `${certificate}${authority}`,
    key,
    authority,
    own: true,
    fingerprint: fingerprint(authority),
    hosts: hostsOf(certificate),
    ends,
  };
}

function stillGood(certificate: string, authority: string, hosts: readonly string[], now: Date): boolean {
  const parsed = new X509Certificate(certificate);
  const ends = Date.parse(parsed.validTo);
  const certifiedHosts = new Set(hostsOf(certificate));
  return (
    ends - now.getTime() > renewBefore &&
    hosts.every((host) => certifiedHosts.has(host)) &&
    certifiedHosts.size === hosts.length &&
    parsed.verify(new X509Certificate(authority).publicKey)
  );
}

const purpose = (name: string): string =>
  `key of the ${name === 'ca' ? 'certificate authority' : 'server certificate'}`;

function readPair(folder: string, name: 'ca' | 'server', { unseal }: TlsKeeperOptions): CertificateWithKey | undefined {
  const certificate = readIfPresent(join(folder, `${name}.pem`));
  const sealed = readIfPresent(join(folder, `${name}.key`));
  if (certificate === undefined || sealed === undefined) return undefined;
  const key = unseal(sealed.trim(), purpose(name)).toString('utf8');
  // A power cut between the two writes of a renewal leaves a pair that does not match: it is created again.
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)) ? { certificate, key } : undefined;
}

function writePair(
  folder: string,
  name: 'ca' | 'server',
  { certificate, key }: CertificateWithKey,
  { seal, write }: TlsKeeperOptions,
): void {
  write(join(folder, `${name}.key`), `${seal(Buffer.from(key), purpose(name))}\n`, 0o400);
  write(join(folder, `${name}.pem`), certificate, 0o644);
}
