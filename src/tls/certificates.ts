// X.509 certificates: the store's own certificate authority and the server certificate. node-forge builds and encodes
// them; node:crypto makes keys and signatures, because it is forty times as fast and runs in constant time. node-forge is
// loaded when a certificate is made: every command imports this file, and few make certificates.
import {
  createPrivateKey,
  generateRsaKey,
  randomBytes,
  signFor,
  X509Certificate,
  type KeyObject,
} from '#domain/cryptography.ts';
import { isIP } from 'node:net';

import type forge from 'node-forge';

import { after, days, hours } from '#domain/clock.ts';

/** A certificate and its private key, both PEM. */
export interface CertificateWithKey {
  certificate: string;
  key: string;
}

/** An authority that issues certificates. Its key is PEM, or a text for a key in a device. */
export interface IssuingAuthority extends CertificateWithKey {
  sign: CertificateSigner;
}

/** Signs the encoded certificate: RSA PKCS #1 v1.5 with SHA-256. */
type CertificateSigner = (bytes: Uint8Array) => Buffer | Promise<Buffer>;

const authorityDays = 3652;
/** A board without a battery for its clock starts in the year of its image: the authority is already valid then. */
const authorityBackdated = days(authorityDays);
/** Browsers and phones refuse a certificate with a longer period of validity. */
export const serverDays = 397;
/** How far the clock of a device may be behind. The server itself renews the certificate before the remaining time ends. */
const serverBackdated = days(300);
/** The clock of a person's computer may be a little behind. */
const signingBackdated = hours(1);

/** Creates a certificate authority with this name. */
export async function makeAuthority(name: string, now: Date): Promise<IssuingAuthority> {
  const { publicKey, privateKey } = await generateRsaKey('certificate');
  const sign = signsWith(privateKey);
  return { certificate: await certifyAuthority(name, now, publicKey, sign), key: pem(privateKey), sign };
}

/** Creates the certificate of an authority that has a key already. */
export const certifyAuthority = (
  name: string,
  now: Date,
  publicKey: KeyObject,
  sign: CertificateSigner,
): Promise<string> =>
  selfSigned(name, { publicKey, sign, from: after(now, -authorityBackdated), until: after(now, days(authorityDays)) }, [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);

const signsWith =
  (key: KeyObject): CertificateSigner =>
  (bytes) =>
    signFor('certificate', bytes, key);

/** The authority with this pair. */
export const issuingAuthority = (pair: CertificateWithKey): IssuingAuthority => ({
  ...pair,
  sign: signsWith(createPrivateKey(pair.key)),
});

/** Creates a key that signs texts, with a self-signed certificate to verify them. */
export async function makeSigningCertificate(name: string, now: Date): Promise<CertificateWithKey> {
  const { publicKey, privateKey } = await generateRsaKey('certificate');
  const [from, until] = [after(now, -signingBackdated), after(now, days(2 * authorityDays))];
  const certificate = await selfSigned(name, { publicKey, sign: signsWith(privateKey), from, until }, [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return { certificate, key: pem(privateKey) };
}

function selfSigned(
  name: string,
  plan: Pick<CertificatePlan, 'publicKey' | 'sign' | 'from' | 'until'>,
  extensions: CertificatePlan['extensions'],
): Promise<string> {
  const subject = [
    { name: 'organizationName', value: 'larder' },
    { name: 'commonName', value: name.slice(0, 64) },
  ];
  return build({ ...plan, subject, issuer: subject, extensions });
}

/** Creates a key, and a server certificate of the authority for these names and addresses. */
export async function makeServerCertificate(
  authority: IssuingAuthority,
  hosts: readonly string[],
  now: Date,
): Promise<CertificateWithKey> {
  const { publicKey, privateKey } = await generateRsaKey('certificate');
  const { pki } = await loadForge();
  const issuer = pki.certificateFromPem(authority.certificate);
  const end = new Date(authorityEnd(authority));
  const from = after(now, -serverBackdated);
  const desiredEnd = after(from, days(serverDays));
  const certificate = await build({
    publicKey,
    sign: authority.sign,
    subject: [{ name: 'commonName', value: (hosts[0] ?? 'larder').slice(0, 64) }],
    issuer: issuer.subject.attributes,
    from,
    until: desiredEnd < end ? desiredEnd : end,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
      },
      { name: 'subjectKeyIdentifier' },
      { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
    ],
  });
  return { certificate, key: pem(privateKey) };
}

/** The names and addresses in a certificate, sorted. */
export function hostsOf(certificate: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(certificate);
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? [])
    .map(comparable)
    .sort();
}

/** The canonical spelling of a name or address. */
export const comparable = (host: string): string =>
  isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase();

/** SHA-256 of a certificate, as browsers and openssl show it. */
export const fingerprint = (certificate: string): string => new X509Certificate(certificate).fingerprint256;

const authorityEnd = ({ certificate }: Pick<IssuingAuthority, 'certificate'>): string =>
  new X509Certificate(certificate).validTo;

interface CertificatePlan {
  publicKey: KeyObject;
  sign: CertificateSigner;
  subject: forge.pki.CertificateField[];
  issuer: forge.pki.CertificateField[];
  from: Date;
  until: Date;
  extensions: object[];
}

async function build({ publicKey, sign, subject, issuer, from, until, extensions }: CertificatePlan): Promise<string> {
  const { asn1, pki } = await loadForge();
  const certificate = pki.createCertificate();
  certificate.publicKey = pki.publicKeyFromPem(publicKey.export({ type: 'spki', format: 'pem' }) as string);
  certificate.serialNumber = serial();
  certificate.validity.notBefore = from;
  certificate.validity.notAfter = until;
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  // As certificate.sign of forge, which would need the key itself.
  certificate.signatureOid = certificate.siginfo.algorithmOid = pki.oids['sha256WithRSAEncryption']!;
  certificate.tbsCertificate = pki.getTBSCertificate(certificate);
  const bytes = Buffer.from(asn1.toDer(certificate.tbsCertificate).getBytes(), 'latin1');
  certificate.signature = (await sign(bytes)).toString('latin1');
  return pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

/** node-forge with the function for the signed part of a certificate, which its types lack. */
async function loadForge(): Promise<Pick<typeof forge, 'asn1'> & { pki: ForgeCertificates }> {
  const { asn1, pki } = (await import('node-forge')).default;
  return { asn1, pki: pki as ForgeCertificates };
}

type ForgeCertificates = typeof forge.pki & {
  getTBSCertificate(certificate: forge.pki.Certificate): forge.asn1.Asn1;
};

/** 127 random bits, positive and without a leading zero byte, as DER requires of an integer. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
