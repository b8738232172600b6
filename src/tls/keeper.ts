// Keeps the certificates of the server. Below `DIRECTORY/tls`, created when they are first needed:
//
//   ca.pem        the store's own certificate authority, which clients trust
//   ca.key        its private key, or the name that it has in the key manager, sealed under the site key
//   server.pem    the server's certificate
//   server.key    its private key, sealed
//
// or the site's own files, if the configuration names them; see site.ts.
import { createPrivateKey, X509Certificate, type KeyObject } from '#domain/cryptography.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { days, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { readIfPresent } from '#files/read.ts';
import {
  certifyAuthority,
  comparable,
  fingerprint,
  hostsOf,
  issuingAuthority,
  makeAuthority,
  makeServerCertificate,
  type CertificateWithKey,
  type IssuingAuthority,
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
  /** Signs for an authority with its key in the key manager. */
  device?: AuthorityDevice;
  /** Whether to renew a certificate before it expires; default true, false if another process does. */
  renews?: boolean;
}

/** A device that signs for the authority. */
export interface AuthorityDevice {
  publicKey(name: string): Promise<KeyObject>;
  /** Returns the signature: RSA PKCS #1 v1.5 with SHA-256. */
  sign(key: { name: string; publicKey: KeyObject }, bytes: Uint8Array): Promise<Buffer>;
}

export interface PreparedTls extends ServerTls {
  renewed: boolean;
  /** Why the device of the authority has not signed a new certificate. The present one goes on. */
  unsigned?: string;
}

/** Reads the server's certificate and key; creates or renews those of the store's own authority. */
export async function prepareTls(settings: TlsSettings, keeping: TlsKeeperOptions): Promise<PreparedTls> {
  const site = siteFiles(settings);
  if (site !== undefined) return { ...siteTls(site), renewed: false };
  const folder = join(keeping.directory, 'tls');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hosts = [...new Set(settings.hosts.map(comparable))];
  const present = readAuthority(folder, settings, keeping);
  const serverPair = present && readPair(folder, 'server', keeping);
  const isGood = ({ certificate }: CertificateWithKey): boolean =>
    keeping.renews === false || stillGood(certificate, present!.certificate, hosts, keeping.now());
  if (serverPair !== undefined && isGood(serverPair))
    return { ...described(serverPair, present!.certificate), renewed: false };
  const goesOn = settings.authorityKey === undefined ? undefined : readPresent(folder, keeping);
  if (goesOn !== undefined && keeping.renews === false) return { ...goesOn, renewed: false };
  try {
    const authority = present ?? (await makeOwnAuthority(hosts, settings, keeping));
    const server = await makeServerCertificate(authority, hosts, keeping.now());
    // Only when all is signed: without its device, an authority would leave the server without a certificate.
    if (present === undefined) writePair(folder, 'ca', authority, keeping);
    writePair(folder, 'server', server, keeping);
    return { ...described(server, authority.certificate), renewed: true };
  } catch (error) {
    if (goesOn === undefined || !(error instanceof Refusal)) throw error;
    return { ...goesOn, renewed: false, unsigned: error.message };
  }
}

/** The authority that the settings name, if its certificate is made already. */
function readAuthority(
  folder: string,
  { authorityKey: name }: TlsSettings,
  keeping: TlsKeeperOptions,
): IssuingAuthority | undefined {
  if (name === undefined) {
    const pair = readPair(folder, 'ca', keeping);
    return pair && issuingAuthority(pair);
  }
  const certificate = readIfPresent(join(folder, 'ca.pem'));
  const key = readKey(folder, 'ca', keeping);
  if (certificate === undefined || key !== managedKey(name)) return undefined;
  const { publicKey } = new X509Certificate(certificate);
  return { certificate, key, sign: (bytes) => deviceOf(keeping).sign({ name, publicKey }, bytes) };
}

/** The key of the authority in the key manager, if the authority is made already. */
export function managedKeyOfAuthority(
  settings: TlsSettings,
  keeping: TlsKeeperOptions,
): { name: string; publicKey: KeyObject } | undefined {
  const { authorityKey: name } = settings;
  if (name === undefined || siteFiles(settings) !== undefined) return undefined;
  const authority = readAuthority(join(keeping.directory, 'tls'), settings, keeping);
  return authority && { name, publicKey: new X509Certificate(authority.certificate).publicKey };
}

async function makeOwnAuthority(
  hosts: readonly string[],
  { authorityKey: key }: TlsSettings,
  keeping: TlsKeeperOptions,
): Promise<IssuingAuthority> {
  const name = `larder at ${hosts[0] ?? 'this site'}`;
  if (key === undefined) return makeAuthority(name, keeping.now());
  const device = deviceOf(keeping);
  const publicKey = await device.publicKey(key);
  const sign = (bytes: Uint8Array): Promise<Buffer> => device.sign({ name: key, publicKey }, bytes);
  const certificate = await certifyAuthority(name, keeping.now(), publicKey, sign);
  return { certificate, key: managedKey(key), sign };
}

/** The sealed text of `ca.key` for a key in the device. */
const managedKey = (name: string): string => `larder-managed-key/1 ${name}`;

function deviceOf({ device }: TlsKeeperOptions): AuthorityDevice {
  if (device !== undefined) return device;
  throw new Error('cannot make a certificate here: only the server asks the key manager');
}

/** The server certificate and the authority that issued it, also for other names than those of the settings. */
function readPresent(folder: string, keeping: TlsKeeperOptions): ServerTls | undefined {
  const [authority, server] = [readIfPresent(join(folder, 'ca.pem')), readPair(folder, 'server', keeping)];
  if (authority === undefined || server === undefined) return undefined;
  const isIssuer = new X509Certificate(server.certificate).verify(new X509Certificate(authority).publicKey);
  return isIssuer ? described(server, authority) : undefined;
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

function readPair(folder: string, name: 'ca' | 'server', keeping: TlsKeeperOptions): CertificateWithKey | undefined {
  const certificate = readIfPresent(join(folder, `${name}.pem`));
  const key = readKey(folder, name, keeping);
  if (certificate === undefined || key?.startsWith('-----') !== true) return undefined;
  // A power cut between the two writes of a renewal leaves a pair that does not match: it is created again.
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)) ? { certificate, key } : undefined;
}

function readKey(folder: string, name: 'ca' | 'server', { unseal }: TlsKeeperOptions): string | undefined {
  const sealed = readIfPresent(join(folder, `${name}.key`));
  return sealed && unseal(sealed.trim(), purpose(name)).toString('utf8');
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
