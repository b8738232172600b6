// X.509 certificates: the store's own certificate authority and the server certificate. node-forge builds and encodes
// them; node:crypto makes keys and signatures, because it is forty times as fast and runs in constant time.
import { createPrivateKey, generateKeyPair, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';

import forge from 'node-forge';

import { after, days, hours } from '#domain/clock.ts';

/** A certificate and its private key, both PEM. */
export interface CertificateWithKey {
  certificate: string;
  key: string;
}

/** 128 bits of security: the minimum that is considered secure until well after the authority has expired. */
const modulusLength = 3072;
const authorityDays = 3652;
/** A board without a battery for its clock starts in the year of its image: the authority is already valid then. */
const authorityBackdated = days(authorityDays);
/** Browsers and phones refuse a certificate with a longer period of validity. */
export const serverDays = 397;
/** How far the clock of a device may be behind. The server itself renews the certificate before the remaining time ends. */
const serverBackdated = days(300);
/** The clock of a person's computer may be a little behind. */
const signingBackdated = hours(1);

const generate = promisify(generateKeyPair);

/** Creates a certificate authority with this name. */
export const makeAuthority = (name: string, now: Date): Promise<CertificateWithKey> =>
  selfSigned(name, after(now, -authorityBackdated), after(now, days(authorityDays)), [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);

/** Creates a key that signs texts, with a self-signed certificate to verify them. */
export const makeSigningCertificate = (name: string, now: Date): Promise<CertificateWithKey> =>
  selfSigned(name, after(now, -signingBackdated), after(now, days(2 * authorityDays)), [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);

/** Creates a key with a self-signed certificate. */
async function selfSigned(
  name: string,
  from: Date,
  until: Date,
  extensions: CertificatePlan['extensions'],
): Promise<CertificateWithKey> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength });
  const subject = [
    { name: 'organizationName', value: 'larder' },
    { name: 'commonName', value: name.slice(0, 64) },
  ];
  const certificate = build({ publicKey, signer: privateKey, subject, issuer: subject, from, until, extensions });
  return { certificate, key: pem(privateKey) };
}

/** Creates a server certificate of the authority for these names and addresses. */
export async function makeServerCertificate(
  authority: CertificateWithKey,
  hosts: readonly string[],
  now: Date,
): Promise<CertificateWithKey> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength });
  const issuer = forge.pki.certificateFromPem(authority.certificate);
  const end = new Date(authorityEnd(authority));
  const from = after(now, -serverBackdated);
  const desiredEnd = after(from, days(serverDays));
  const certificate = build({
    publicKey,
    signer: createPrivateKey(authority.key),
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

const authorityEnd = ({ certificate }: CertificateWithKey): string => new X509Certificate(certificate).validTo;

interface CertificatePlan {
  publicKey: KeyObject;
  signer: KeyObject;
  subject: forge.pki.CertificateField[];
  issuer: forge.pki.CertificateField[];
  from: Date;
  until: Date;
  extensions: object[];
}

function build({ publicKey, signer, subject, issuer, from, until, extensions }: CertificatePlan): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: 'spki', format: 'pem' }) as string);
  certificate.serialNumber = serial();
  certificate.validity.notBefore = from;
  certificate.validity.notAfter = until;
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  // The key as forge uses it: signs the encoded bytes with node:crypto.
  const key = {
    sign: () => sign('sha256', encoded(certificate), signer).toString('latin1'),
  } as unknown as forge.pki.rsa.PrivateKey;
  certificate.sign(key, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

const encoded = (certificate: forge.pki.Certificate): Buffer =>
  Buffer.from(forge.asn1.toDer(tbsCertificate(certificate)).getBytes(), 'latin1');

/** The signed part of a certificate; the types of node-forge lack this function. */
const { getTBSCertificate: tbsCertificate } = forge.pki as unknown as {
  getTBSCertificate(certificate: forge.pki.Certificate): forge.asn1.Asn1;
};

/** 127 random bits, positive and without a leading zero byte, as DER requires of an integer. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
