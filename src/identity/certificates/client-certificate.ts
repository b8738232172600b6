// Reads a client certificate: its names, and whether its key and signature are strong enough. OpenSSL verifies the rest in the handshake.
import type { X509Certificate } from '#domain/cryptography.ts';
import type { CertificateSettings } from '#configuration/config.ts';
import { emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { derTag, elementsIn, oidOf, readElements, readExtensions, readOnly, type DerElement } from './der.ts';

/** The longest certificate that is read, in bytes. */
export const maxCertificateBytes = 16 * 1024;

/** The fields of a certificate that node:crypto does not show, or only as text that is meant for people. */
export interface CertificateFields {
  /** INTEGER, with its tag and length. */
  serial: Buffer;
  /** The names as DER. */
  issuer: Buffer;
  subject: Buffer;
  signatureAlgorithm: string;
  subjectAltNames: DerElement[];
}

/** Throws an InvalidDer for a certificate of another form. */
export function readFields({ raw }: X509Certificate): CertificateFields {
  const [toBeSigned, algorithm] = readOnly(raw, derTag.sequence);
  const [version, ...others] = elementsIn(toBeSigned, derTag.sequence);
  const [serial, , issuer, , subject] = version?.tag === 0xa0 ? others : [version, ...others];
  const extensions = readExtensions(others.find(({ tag }) => tag === 0xa3));
  return {
    serial: serial?.whole ?? Buffer.alloc(0),
    issuer: issuer?.whole ?? Buffer.alloc(0),
    subject: subject?.whole ?? Buffer.alloc(0),
    signatureAlgorithm: oidOf(elementsIn(algorithm, derTag.sequence)[0]),
    subjectAltNames: extensions
      .filter(({ oid }) => oid === '551d11')
      .flatMap(({ value }) => readOnly(value, derTag.sequence)),
  };
}

/** Signatures of certificates and revocation lists: the digest of each algorithm; undefined for Ed25519, which has none. */
export const signatureDigests: Readonly<Record<string, 'sha256' | 'sha384' | 'sha512' | undefined>> = {
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2b6570': undefined,
};

const minRsaBits = 2048;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Why the key or the signature of a certificate is too weak, as the end of a sentence; undefined if they are strong enough. */
export function weaknessOf(certificate: X509Certificate): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  const isStrong =
    type === 'ed25519' ||
    (type === 'rsa' && (details?.modulusLength ?? 0) >= minRsaBits) ||
    (type === 'ec' && curves.includes(details?.namedCurve ?? ''));
  if (!isStrong) return 'its key is too weak: RSA needs 2048 bits, an elliptic curve P-256, P-384 or P-521';
  if (!Object.hasOwn(signatureDigests, readFields(certificate).signatureAlgorithm))
    return 'its signature is too weak or of an unknown kind: it needs RSA (PKCS #1 v1.5) or ECDSA with SHA-256, SHA-384 or SHA-512';
  return undefined;
}

/** The user name or the e-mail address of an account, in lower case. */
export type AccountName = { username: string } | { email: string };

const subjectFields = { CN: '550403', UID: '0992268993f22c640101', serialNumber: '550405' };
const userPrincipalName = '2b060104018237140203';

/** Reads the name of the account. Returns a problem, as the end of a sentence, if there is not exactly one usable name. */
export function readAccountName(
  certificate: X509Certificate,
  { account_name: kind, upn_domains: domains }: Pick<CertificateSettings, 'account_name' | 'upn_domains'>,
): AccountName | { problem: string } {
  const fields = readFields(certificate);
  const names =
    kind === 'email'
      ? fields.subjectAltNames.filter(({ tag }) => tag === 0x81).map(({ content }) => content)
      : kind === 'upn'
        ? principalNames(fields.subjectAltNames)
        : subjectNames(fields.subject, subjectFields[kind]);
  const [name] = names;
  if (name === undefined) return { problem: `it has no ${nameOf[kind]}` };
  if (names.length > 1) return { problem: `it has more than one ${nameOf[kind]}` };
  const text = name.toString('latin1');
  const unusable = { problem: `its ${nameOf[kind]} names no account` };
  // Before it is written in lower case: other characters have ASCII letters as their lower case.
  if (!/^[\x21-\x7e]{1,320}$/.test(text)) return unusable;
  if (kind === 'email') {
    const email = emailAddress(text);
    return email === undefined ? unusable : { email };
  }
  const username = kind === 'upn' ? localPart(text.toLowerCase(), domains) : text.toLowerCase();
  return username === undefined || usernameProblem(username) !== undefined ? unusable : { username };
}

const nameOf = {
  email: 'e-mail address among its alternative names',
  upn: 'user principal name',
  CN: 'common name (CN) in its subject',
  UID: 'user id (UID) in its subject',
  serialNumber: 'serial number (serialNumber) in its subject',
};

function localPart(name: string, domains: readonly string[]): string | undefined {
  const [local, domain, ...more] = name.split('@');
  return more.length === 0 && domain !== undefined && domains.includes(domain) ? local : undefined;
}

function principalNames(names: readonly DerElement[]): Buffer[] {
  return names
    .filter(({ tag }) => tag === 0xa0)
    .flatMap(({ content }) => {
      const [oid, value] = readElements(content);
      if (oidOf(oid) !== userPrincipalName) return [];
      return elementsIn(value, 0xa0).map(textOf);
    });
}

const subjectNames = (subject: Buffer, oid: string): Buffer[] =>
  readOnly(subject, derTag.sequence).flatMap((relative) =>
    elementsIn(relative, derTag.set).flatMap((attribute) => {
      const [type, value] = elementsIn(attribute, derTag.sequence);
      return oidOf(type) === oid && value !== undefined ? [textOf(value)] : [];
    }),
  );

/** The bytes of a UTF8String, PrintableString or IA5String; unusable bytes for another type. */
const textOf = ({ tag, content }: DerElement): Buffer => ([0x0c, 0x13, 0x16].includes(tag) ? content : Buffer.alloc(1));
