// Reads the certificate of the site: its chain, its key and optionally its authority. The three PEM files stay where
// they are, so that existing tools continue to renew them.
import { createPrivateKey, X509Certificate } from '#domain/cryptography.ts';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

import type { Now } from '#domain/clock.ts';
import { hostsOf } from './certificates.ts';
import type { ServerTls, TlsSettings } from './settings.ts';

export interface SiteFiles {
  certificateFile: string;
  keyFile: string;
  authorityFile?: string | undefined;
}

/** The site's files, if the settings name them. */
export const siteFiles = ({ certificateFile, keyFile, authorityFile }: TlsSettings): SiteFiles | undefined =>
  certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile, authorityFile };

/** Reads the site's files; refuses files that no server can use. */
export function siteTls({ certificateFile, keyFile, authorityFile }: SiteFiles): ServerTls {
  const [first, ...above] = certificatesIn(certificateFile);
  if (first === undefined) throw new Error(`cannot use ${certificateFile}: it holds no certificate in PEM`);
  const key = textOf(keyFile);
  if (!isKeyOf(first, key, keyFile)) {
    throw new Error(
      above.some((certificate) => isKeyOf(certificate, key, keyFile))
        ? `cannot use ${certificateFile}: the certificate of the server must come first, then its issuers`
        : `cannot use ${keyFile}: it is not the key of the certificate in ${certificateFile}`,
    );
  }
  const authority = authorityFile === undefined ? undefined : certificatesIn(authorityFile)[0];
  if (authorityFile !== undefined && authority === undefined)
    throw new Error(`cannot use ${authorityFile}: it holds no certificate in PEM`);
  return {
    certificate: [first, ...above].map(String).join(''),
    key,
    authority: authority?.toString(),
    own: false,
    fingerprint: (authority ?? first).fingerprint256,
    hosts: hostsOf(first.toString()),
    ends: new Date(first.validTo),
  };
}

/** Why clients that use these hosts would refuse the site's certificate now; empty if they accept it. */
export function siteProblems(files: SiteFiles, hosts: readonly string[], now: Now): string[] {
  const chain = certificatesIn(files.certificateFile);
  const authority = files.authorityFile === undefined ? undefined : certificatesIn(files.authorityFile)[0];
  const problems: string[] = [];
  const moment = now().getTime();
  const [server] = chain;
  for (const certificate of [...chain, ...(authority ? [authority] : [])]) {
    const which = certificate === server ? 'it' : `the certificate of ${commonName(certificate)} in it`;
    if (Date.parse(certificate.validTo) <= moment) problems.push(`${which} ended on ${certificate.validTo}`);
    if (Date.parse(certificate.validFrom) > moment) problems.push(`${which} begins only on ${certificate.validFrom}`);
  }
  const uncovered = hosts.filter((host) => server && !(isIP(host) ? server.checkIP(host) : server.checkHost(host)));
  if (uncovered.length > 0) problems.push(`it is not valid for ${uncovered.join(', ')}`);
  if (server?.ca === true) problems.push('it is an authority, not the certificate of a server');
  const links = authority && chain.at(-1)?.fingerprint256 !== authority.fingerprint256 ? [...chain, authority] : chain;
  for (const [number, certificate] of links.slice(0, -1).entries()) {
    const issuer = links[number + 1]!;
    if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey))
      problems.push(`${commonName(issuer)} did not issue the certificate of ${commonName(certificate)} before it`);
  }
  return problems;
}

const commonName = ({ subject }: X509Certificate): string => /(?:^|\n)CN=(.*)/.exec(subject)?.[1] ?? 'no name';

/** The certificates in a PEM file, in order. */
function certificatesIn(file: string): X509Certificate[] {
  try {
    const blocks = textOf(file).match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw cannotRead(cause) ? cause : new Error(`cannot use ${file}: it holds no certificate in PEM`, { cause });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read ${file}`, { cause });
  }
}

const cannotRead = (error: unknown): boolean => error instanceof Error && error.message.startsWith('cannot read');

function isKeyOf(certificate: X509Certificate, key: string, file: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    // The error message of the cause may quote the file.
    throw new Error(`cannot use ${file}: it holds no private key in PEM without a passphrase`);
  }
}
