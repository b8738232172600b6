// The authorities and revocation lists of client certificates, read again when their files change; and the check of a certificate against
// them. OpenSSL has verified the certificate in the handshake by the same files; this check knows files that changed since.
import { X509Certificate } from '#domain/cryptography.ts';
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

import type { CertificateSettings } from '#configuration/config.ts';
import type { Now } from '#domain/clock.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { maxCertificateBytes, readFields, weaknessOf } from './client-certificate.ts';
import { isRevokedBy, isSignedBy, readRevocationLists, type RevocationList } from './revocation.ts';

export interface CertificateTrust {
  /** Reads changed files, and returns the authorities and lists for OpenSSL: the same object until a file changes. */
  material(): TrustMaterial;
  /** Why a certificate is not accepted now; undefined if it is. */
  problemOf(certificate: X509Certificate): CertificateProblem | undefined;
  /** Files that cannot be used, and expired lists. */
  faults(): Fault[];
}

/** PEM, as node:tls takes it. */
export interface TrustMaterial {
  ca: string[];
  crl: string[] | undefined;
}

export interface CertificateProblem {
  /** The end of a sentence about the certificate. */
  because: string;
  /** False if the files of the store are the problem: then nothing is known about the certificate. */
  isCertain: boolean;
}

const maxAuthorityBytes = 1024 * 1024;
const maxAuthorities = 128;
const maxListBytes = 16 * 1024 * 1024;
const maxAllListsBytes = 64 * 1024 * 1024;
const maxChain = 8;

type TrustedList = RevocationList & { signers: readonly X509Certificate[] };

interface TrustFiles {
  authorities: X509Certificate[];
  lists: TrustedList[];
  /** Files that cannot be used, each with the reason. */
  unusable: { file: string; because: string }[];
}

interface LoadedTrust extends TrustFiles {
  /** The state of the files and the settings that this was read from. */
  state: string;
  /** Made at the first use, and again when a list expires. */
  material: (TrustMaterial & { hasExpired: boolean }) | undefined;
}

export function createCertificateTrust({
  settings,
  now,
}: {
  settings: () => CertificateSettings;
  now: Now;
}): CertificateTrust {
  let loaded: LoadedTrust | undefined;
  const current = (): LoadedTrust => {
    const state = stateOf(settings());
    if (loaded?.state !== state) loaded = { ...readFiles(settings()), state, material: undefined };
    return loaded;
  };
  const expired = ({ lists }: TrustFiles): RevocationList[] => lists.filter(({ nextUpdate }) => nextUpdate <= now());

  return {
    material() {
      const trust = current();
      const hasExpired = expired(trust).length > 0;
      // OpenSSL has no setting for expired lists: if they are accepted, `problemOf` alone looks for the certificate in them.
      const isWithoutLists = trust.lists.length === 0 || (hasExpired && settings().expired_crl === 'accept');
      if (trust.material?.hasExpired !== hasExpired)
        trust.material = {
          ca: trust.authorities.map(String),
          crl: isWithoutLists ? undefined : trust.lists.map(({ der }) => toPem(der)),
          hasExpired,
        };
      return trust.material;
    },

    problemOf(certificate) {
      try {
        return problemOf(certificate, { trust: current(), settings: settings(), at: now() });
      } catch (error) {
        return { because: `it cannot be read: ${inOneSentence(error)}`, isCertain: true };
      }
    },

    faults() {
      if (settings().listen === undefined) return [];
      const trust = current();
      const isRefused = settings().expired_crl === 'refuse';
      return [
        ...trust.unusable.map((unusable) => describeFault('certificate-file', unusable)),
        ...expired(trust).map(({ file, nextUpdate }) =>
          describeFault('crl-expired', { file, ends: nextUpdate.toISOString(), isRefused }),
        ),
      ];
    },
  };
}

/** The path, size and time of each file: a change of one of them is a change of the file. */
function stateOf({
  authority_file: authority,
  crl_files: lists,
  listen,
  expired_crl: ofExpired,
}: CertificateSettings): string {
  const stateOfFile = (file: string): unknown[] => {
    try {
      const { mtimeMs, ctimeMs, size, ino } = statSync(file);
      return [file, mtimeMs, ctimeMs, size, ino];
    } catch (error) {
      return [file, (error as NodeJS.ErrnoException).code];
    }
  };
  return JSON.stringify([
    listen,
    ofExpired,
    [...(authority === undefined ? [] : [authority]), ...lists].map(stateOfFile),
  ]);
}

function readFiles({ listen, authority_file: authority, crl_files: files }: CertificateSettings): TrustFiles {
  const trust: TrustFiles = { authorities: [], lists: [], unusable: [] };
  if (listen === undefined || authority === undefined) return trust;
  const attempt = (file: string, read: () => void): void => {
    try {
      read();
    } catch (error) {
      trust.unusable.push({ file, because: inOneSentence(error) });
    }
  };
  attempt(authority, () => {
    trust.authorities = readAuthorities(authority);
  });
  let room = maxAllListsBytes;
  for (const file of files)
    attempt(file, () => {
      const bytes = readBounded(file, Math.min(maxListBytes, room));
      room -= bytes.length;
      for (const list of readRevocationLists(file, bytes)) {
        const signers = trust.authorities.filter(
          (authority) => readFields(authority).subject.equals(list.issuer) && isSignedBy(list, authority),
        );
        if (signers.length === 0) throw new Error('no authority in identity.certificates.authority_file has signed it');
        trust.lists.push({ ...list, signers });
      }
    });
  return trust;
}

function readAuthorities(file: string): X509Certificate[] {
  const text = readBounded(file, maxAuthorityBytes).toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it holds no certificate in PEM');
  if (blocks.length > maxAuthorities) throw new Error(`it holds more than ${String(maxAuthorities)} certificates`);
  const authorities = blocks.map((block) => new X509Certificate(block));
  const other = authorities.find(({ ca }) => !ca);
  if (other !== undefined) throw new Error(`the certificate of ${nameOf(other)} in it is not that of an authority`);
  return authorities;
}

/** Reads a file of at most `max` bytes. */
function readBounded(file: string, max: number): Buffer {
  const handle = openSync(file, 'r');
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > max) throw new Error(`it is larger than ${String(Math.floor(max / 1024 / 1024))} MiB`);
    return readFileSync(handle).subarray(0, max);
  } finally {
    closeSync(handle);
  }
}

interface CheckContext {
  trust: TrustFiles;
  settings: CertificateSettings;
  at: Date;
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const certain = (because: string): CertificateProblem => ({ because, isCertain: true });

function problemOf(leaf: X509Certificate, context: CheckContext): CertificateProblem | undefined {
  const { trust } = context;
  if (trust.authorities.length === 0) return { because: 'its authorities cannot be read', isCertain: false };
  if (leaf.raw.length > maxCertificateBytes) return certain('it is too large');
  if (leaf.ca) return certain('it is the certificate of an authority');
  // Undefined without the extension, other than the types of Node say.
  const purposes = leaf.keyUsage as string[] | undefined;
  if (purposes?.includes(clientAuth) !== true) return certain('it is not for logins (clientAuth)');
  const chains = chainsOf(leaf, trust.authorities);
  if (chains.length === 0) return certain('no known authority has issued it');
  const problems = chains.map((chain) => problemOfChain(chain, context));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** The chains from a certificate to a root. All authorities are in the file, so a certificate that the client sends adds none. */
function chainsOf(leaf: X509Certificate, authorities: readonly X509Certificate[]): X509Certificate[][] {
  const chains: X509Certificate[][] = [];
  const extend = (chain: X509Certificate[]): void => {
    const last = chain.at(-1)!;
    if (chain.length > 1 && last.checkIssued(last)) {
      chains.push(chain);
      return;
    }
    if (chain.length === maxChain || chains.length === maxAuthorities) return;
    for (const issuer of authorities)
      if (!chain.includes(issuer) && last.checkIssued(issuer) && last.verify(issuer.publicKey))
        extend([...chain, issuer]);
  };
  extend([leaf]);
  return chains;
}

function problemOfChain(chain: readonly X509Certificate[], context: CheckContext): CertificateProblem | undefined {
  for (const [depth, certificate] of chain.entries()) {
    const which = depth === 0 ? 'it' : `the certificate of its authority ${nameOf(certificate)}`;
    if (certificate.validToDate <= context.at) return certain(`${which} has expired`);
    if (certificate.validFromDate > context.at) return certain(`${which} is not valid yet`);
    const issuer = chain[depth + 1];
    const weakness = issuer === undefined ? undefined : weaknessOf(certificate);
    if (weakness !== undefined) return certain(depth === 0 ? weakness : `${which}: ${weakness}`);
    const revocation = issuer && problemOfRevocation(certificate, issuer, context);
    if (revocation !== undefined) return { ...revocation, because: `${which} ${revocation.because}` };
  }
  return undefined;
}

function problemOfRevocation(
  certificate: X509Certificate,
  authority: X509Certificate,
  { trust, settings, at }: CheckContext,
): CertificateProblem | undefined {
  if (settings.crl_files.length === 0) return undefined;
  const { issuer, serial } = readFields(certificate);
  const lists = trust.lists.filter((list) => list.issuer.equals(issuer) && list.signers.includes(authority));
  if (lists.some((list) => isRevokedBy(list, serial))) return certain('is revoked');
  const isUsable = ({ nextUpdate, thisUpdate }: RevocationList): boolean =>
    thisUpdate <= at && (nextUpdate > at || settings.expired_crl === 'accept');
  if (lists.some(isUsable)) return undefined;
  const because =
    lists.length === 0
      ? 'cannot be checked, because the store has no usable revocation list of its authority'
      : 'cannot be checked, because the revocation list of its authority has expired or is not valid yet';
  return { because, isCertain: false };
}

const nameOf = ({ subject }: { subject?: string }): string =>
  `'${(/(?:^|\n)CN=(.*)/.exec(subject ?? '')?.[1] ?? 'without a name').slice(0, 100)}'`;

const toPem = (der: Buffer): string =>
  `-----BEGIN X509 CRL-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END X509 CRL-----\n`;
