// Certificates and revocation lists for tests, as wrong as a test needs them: written in DER, signed by node:crypto.
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

export const rsaKey = (modulusLength = 2048): KeyPair => generateKeyPairSync('rsa', { modulusLength });
export const ecKey = (namedCurve = 'P-256'): KeyPair => generateKeyPairSync('ec', { namedCurve });

/** An element of DER. */
function element(tag: number, ...contents: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((piece) => Buffer.from(piece)));
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content]);
}

export const sequence = (...contents: Buffer[]): Buffer => element(0x30, ...contents);
export const tagged = element;

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number);
  const bytes = [first * 40 + second, ...others].flatMap((number) => {
    const digits = [number % 128];
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
      digits.unshift((rest % 128) | 0x80);
    return digits;
  });
  return element(0x06, Buffer.from(bytes));
}

const integer = (bytes: Buffer): Buffer => element(0x02, bytes);
const time = (date: Date): Buffer => element(0x18, date.toISOString().replace(/[-:T]|\.\d+/g, ''));

export type Attribute = [oid: string, text: string | Buffer, tag?: number];
export const commonName = '2.5.4.3';

export const nameOf = (attributes: readonly Attribute[]): Buffer =>
  sequence(...attributes.map(([id, text, tag = 0x0c]) => element(0x31, sequence(oid(id), element(tag, text)))));

type Digest = 'sha1' | 'sha256' | 'sha384';
const algorithms: Readonly<Record<string, string>> = {
  'rsa sha1': '1.2.840.113549.1.1.5',
  'rsa sha256': '1.2.840.113549.1.1.11',
  'rsa sha384': '1.2.840.113549.1.1.12',
  'ec sha1': '1.2.840.10045.4.1',
  'ec sha256': '1.2.840.10045.4.3.2',
  'ec sha384': '1.2.840.10045.4.3.3',
};

function signed(toBeSigned: (algorithm: Buffer) => Buffer, key: KeyObject, digest: Digest): Buffer {
  const kind = key.asymmetricKeyType ?? '';
  const algorithm = sequence(oid(algorithms[`${kind} ${digest}`] ?? ''), ...(kind === 'rsa' ? [element(0x05)] : []));
  const content = toBeSigned(algorithm);
  return sequence(content, algorithm, element(0x03, Buffer.from([0]), sign(digest, content, key)));
}

export interface Extension {
  id: string;
  critical?: boolean;
  value: Buffer;
}

const purposes = (...ids: string[]): Extension => ({ id: '2.5.29.37', value: sequence(...ids.map(oid)) });
export const clientAuth = purposes('1.3.6.1.5.5.7.3.2');
export const serverAuth = purposes('1.3.6.1.5.5.7.3.1');
export const anyPurpose = purposes('2.5.29.37.0');
export const isAuthority = (pathLength?: number): Extension => ({
  id: '2.5.29.19',
  critical: true,
  value: sequence(
    element(0x01, Buffer.from([0xff])),
    ...(pathLength === undefined ? [] : [integer(Buffer.from([pathLength]))]),
  ),
});
export const signsCertificates: Extension = {
  id: '2.5.29.15',
  critical: true,
  value: element(0x03, Buffer.from([1, 6])),
};
export const altNames = (...names: Buffer[]): Extension => ({ id: '2.5.29.17', value: sequence(...names) });
export const email = (text: string | Buffer): Buffer => element(0x81, text);
export const principalName = (text: string | Buffer, tag = 0x0c): Buffer =>
  element(0xa0, oid('1.3.6.1.4.1.311.20.2.3'), element(0xa0, element(tag, text)));
/** Permits e-mail addresses of one domain only. */
export const onlyMailAt = (domain: string): Extension => ({
  id: '2.5.29.30',
  critical: true,
  value: sequence(element(0xa0, sequence(element(0x81, domain)))),
});

export interface CertificatePlan {
  subject?: readonly Attribute[];
  extensions?: readonly Extension[];
  from?: Date;
  until?: Date;
  key?: KeyPair;
  digest?: Digest;
}

export interface Issued {
  pem: string;
  key: string;
  serial: Buffer;
}

export interface TestAuthority {
  name: readonly Attribute[];
  keys: KeyPair;
  /** The certificate of the authority. */
  pem: string;
  /** Issues a certificate for a person. */
  issue(plan: CertificatePlan): Issued;
  /** Issues a certificate for an authority below. */
  certify(name: string, plan?: CertificatePlan): TestAuthority & { serial: Buffer };
  crl(
    revoked?: readonly Buffer[],
    plan?: { until?: Date; from?: Date; extensions?: Extension[]; padding?: number },
  ): Buffer;
}

export const hours = (count: number): Date => new Date(Date.now() + count * 3_600_000);
const toPem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
export const crlPem = (bytes: Buffer): string => toPem('X509 CRL', bytes);

let serials = 0;
/** Serial numbers of 16 bytes; the first is 1. */
const nextSerial = (): Buffer =>
  Buffer.concat([Buffer.from([0x40]), createHash('sha256').update(String(++serials)).digest().subarray(0, 15)]);

function certificate(
  issuer: Pick<TestAuthority, 'name' | 'keys'>,
  { subject = [], extensions = [], from = hours(-2), until = hours(48), digest = 'sha256' }: CertificatePlan,
  { publicKey }: KeyPair,
  serial: Buffer,
): string {
  const toBeSigned = (algorithm: Buffer): Buffer =>
    sequence(
      element(0xa0, integer(Buffer.from([2]))),
      integer(serial),
      algorithm,
      nameOf(issuer.name),
      sequence(time(from), time(until)),
      nameOf(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      ...(extensions.length === 0
        ? []
        : [
            element(
              0xa3,
              sequence(
                ...extensions.map(({ id, critical = false, value }) =>
                  sequence(oid(id), ...(critical ? [element(0x01, Buffer.from([0xff]))] : []), element(0x04, value)),
                ),
              ),
            ),
          ]),
    );
  return toPem('CERTIFICATE', signed(toBeSigned, issuer.keys.privateKey, digest));
}

export function makeAuthority(label: string, keys = rsaKey(), plan: CertificatePlan = {}): TestAuthority {
  const name: Attribute[] = [[commonName, label]];
  const own = { subject: name, extensions: [isAuthority(), signsCertificates], ...plan };
  return authority(name, keys, certificate({ name, keys }, own, keys, nextSerial()));
}

/** An authority with this name and key, certified by any other. */
export function authority(name: readonly Attribute[], keys: KeyPair, pem: string): TestAuthority {
  const self = { name, keys, pem };
  return {
    ...self,
    issue(plan) {
      const key = plan.key ?? keys;
      const serial = nextSerial();
      const secret = key.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      return { pem: certificate(self, plan, key, serial), key: secret, serial };
    },
    certify(label, plan = {}) {
      const below: Attribute[] = [[commonName, label]];
      const own = { subject: below, extensions: [isAuthority(), signsCertificates], ...plan };
      const belowKeys = plan.key ?? ecKey();
      const serial = nextSerial();
      return { ...authority(below, belowKeys, certificate(self, own, belowKeys, serial)), serial };
    },
    crl: (revoked = [], { until = hours(24), from = hours(-2), extensions = [], padding = 0 } = {}) =>
      signed(
        (algorithm) =>
          sequence(
            integer(Buffer.from([1])),
            algorithm,
            nameOf(name),
            time(from),
            time(until),
            ...(revoked.length + padding === 0 ? [] : [entries(revoked, padding, from)]),
            ...(extensions.length === 0
              ? []
              : [
                  element(
                    0xa0,
                    sequence(
                      ...extensions.map(({ id, value }) =>
                        sequence(oid(id), element(0x01, Buffer.from([0xff])), element(0x04, value)),
                      ),
                    ),
                  ),
                ]),
          ),
        keys.privateKey,
        'sha256',
      ),
  };
}

/** The entries of a revocation list, with `padding` further ones. */
function entries(revoked: readonly Buffer[], padding: number, at: Date): Buffer {
  const others = Array.from({ length: padding }, (_, number) => {
    const serial = Buffer.alloc(16, 0x55);
    serial.writeUInt32BE(number, 4);
    return serial;
  });
  return sequence(Buffer.concat([...others, ...revoked].map((serial) => sequence(integer(serial), time(at)))));
}
