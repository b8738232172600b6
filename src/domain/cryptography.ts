// All cryptography of the store: one list of its uses, and the functions that take an algorithm from the list. docs/reference/cryptography.md
// is made of the list, and a test keeps node:crypto out of all other modules.
import {
  argon2,
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  generateKeyPair as generateKeyPairCallback,
  hash,
  hkdfSync,
  scrypt,
  scryptSync,
  sign,
  verify,
  type Argon2Parameters,
  type BinaryLike,
  type BinaryToTextEncoding,
  type CipherGCM,
  type CipherKey,
  type DecipherGCM,
  type Hash,
  type KeyObject,
  type ScryptOptions,
  type VerifyKeyObjectInput,
} from 'node:crypto';
import { promisify } from 'node:util';

export {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  randomBytes,
  randomFill,
  randomInt,
  randomUUID,
  timingSafeEqual,
  X509Certificate,
  type Hash,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';

/** The verdict of FIPS 140-3: `none` protects nothing from an attacker, so the algorithm may be any. */
type FipsVerdict = 'approved' | 'not approved' | 'none';

export interface CryptographicUse {
  /** As the standard names it. */
  algorithm: string;
  key: string;
  purpose: string;
  fips: FipsVerdict;
  /** Where it is called without this module; node:crypto (OpenSSL) by default. */
  library?:
    'tweetnacl' | 'node-forge' | 'node:tls (OpenSSL)' | 'pg' | 'AWS SDK' | 'openid-client, jose' | 'the key manager';
}

/** A use with the name of its algorithm in node:crypto. */
interface NamedUse extends CryptographicUse {
  id: string;
}

/** A signature, with the name of its digest in node:crypto; null for Ed25519, which has none. */
interface SignatureAlgorithm extends CryptographicUse {
  id: string | null;
}

const digestNames = { sha1: 'SHA-1', sha224: 'SHA-224', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
type Sha = keyof typeof digestNames;

function digest(algorithm: string, id: string, purpose: string, fips: FipsVerdict = 'approved'): NamedUse {
  return { algorithm, id, key: 'none', purpose, fips };
}

const sha256 = (purpose: string, fips?: FipsVerdict): NamedUse => digest('SHA-256', 'sha256', purpose, fips);

function mac(key: string, purpose: string, algorithm = 'HMAC-SHA-256', id = 'sha256'): NamedUse {
  return { algorithm, id, key, purpose, fips: 'approved' };
}

function cipher(key: string, purpose: string): NamedUse & { id: 'aes-256-gcm' } {
  return { algorithm: 'AES-256-GCM', id: 'aes-256-gcm', key: `${key}, 256 bits`, purpose, fips: 'approved' };
}

const openPgpDigest = (id: Sha): NamedUse =>
  digest(
    digestNames[id],
    id,
    'verifies that the content of an assertion is the signed one',
    id === 'sha1' ? 'none' : 'approved',
  );

const rsaOfOthers = (id: Sha): SignatureAlgorithm => ({
  algorithm: `RSA PKCS #1 v1.5 with ${digestNames[id]}`,
  id,
  key: 'of a brand or another store, RSA of 2048 to 16384 bits',
  purpose: 'signatures of assertions: verified only',
  fips: id === 'sha1' ? 'not approved' : 'approved',
});

const approverSignature = (algorithm: string, id: Sha | null): SignatureAlgorithm => ({
  algorithm,
  id,
  key: 'of an approver, or a release key; outside the store',
  purpose: 'signatures of approvals and of releases of larder, as ssh-keygen makes them: verified only',
  fips: 'approved',
});

const revocationList = (id: Sha): SignatureAlgorithm => ({
  algorithm: `RSA PKCS #1 v1.5 or ECDSA, with ${digestNames[id]}`,
  id,
  key: 'of an authority of client certificates',
  purpose: 'revocation lists: verified only',
  fips: 'approved',
});

/** Each digest of the store. */
const digests = {
  row: sha256('detects damaged rows of the records and of spilled assertions', 'none'),
  'audit chain': sha256('chains the entries of the audit log'),
  'content sha256': sha256('digests of contents, parts of transfers and backups'),
  'content sha384': digest('SHA-384', 'sha384', 'digests of resources that clients of charms ask for'),
  'content sha512': digest('SHA-512', 'sha512', 'digests of resources and images that clients ask for'),
  'content sha3-384': digest('SHA3-384', 'sha3-384', 'names of contents; digests of packages in assertions'),
  statement: sha256('ids of statements, requests, receipts and plans of transfers'),
  'device sha256': sha256('certificates that a key in the key manager signs'),
  'device sha384': digest('SHA-384', 'sha384', 'statements that a key of a site in the key manager signs'),
  change: sha256('digests of the changes that people see and approve'),
  secret: sha256('stores, finds or compares random secrets: links, codes, tokens and passwords of the image registry'),
  'administrator credential': digest('SHA3-384', 'sha3-384', 'stores the credential of the store administrator'),
  password: digest('SHA-512', 'sha512', 'gives passwords a fixed length before they are hashed'),
  counter: sha256('keys of counters of failures and rates', 'none'),
  cache: sha256('names of cached responses, pages and texts', 'none'),
  'key id': digest('SHA3-384', 'sha3-384', 'ids of the keys of assertions'),
  'key fingerprint': sha256('fingerprints of keys of sites and approvers'),
  'OpenPGP fingerprint': digest('SHA-1', 'sha1', 'fingerprints of OpenPGP keys, which the format fixes', 'none'),
  'OpenPGP sha1': openPgpDigest('sha1'),
  'OpenPGP sha224': openPgpDigest('sha224'),
  'OpenPGP sha256': openPgpDigest('sha256'),
  'OpenPGP sha384': openPgpDigest('sha384'),
  'OpenPGP sha512': openPgpDigest('sha512'),
  'approval sha256': sha256('the text of an approval in a signature of ssh-keygen'),
  'approval sha512': digest('SHA-512', 'sha512', 'the text of an approval in a signature of ssh-keygen'),
  'S3 transmission': digest(
    'MD5',
    'md5',
    'detects errors of transmission to an S3 server, whose interface fixes it',
    'none',
  ),
} satisfies Record<string, NamedUse>;

const macs = {
  macaroon: mac('root key, 256 bits', 'signatures of macaroons'),
  'form token': mac('root key, 256 bits', 'proves that a form comes from a page of this store'),
  'audit seal': mac('derived, 256 bits', 'seals the end of the audit log'),
  'backup manifest': mac('derived, 256 bits', 'proves that a backup was made by this store'),
  'backup name': mac('site key, 256 bits', 'names of unfinished backups'),
  'site key fingerprint': mac('site key, 256 bits', 'the fingerprint of the site key'),
  'master key mark': mac('master key, 256 bits', 'tells master keys apart'),
  'recovery code': mac('site key, 256 bits', 'stores recovery codes'),
  'registry token': mac('derived, 256 bits', 'tokens of the image registry'),
  moment: mac('derived, 256 bits, cut to 128 bits', 'request ids and nonces of devices'),
  'one-time password': mac(
    'of an account, 160 bits',
    'one-time passwords (RFC 6238), as authenticators compute them',
    'HMAC-SHA-1',
    'sha1',
  ),
} satisfies Record<string, NamedUse>;

const ciphers = {
  secret: cipher(
    'site key',
    'secrets in the records: keys of tokens and certificates, logins in progress, one-time passwords',
  ),
  'signing key': cipher('master key, and a data key for each signing key', 'signing keys of brands'),
  'master key': cipher('from a passphrase by scrypt', 'the file of the master key'),
  'backup keys': cipher('from a passphrase by scrypt', 'keys inside a backup'),
} satisfies Record<string, NamedUse>;

const signatures = {
  assertion: {
    algorithm: 'RSA PKCS #1 v1.5 with SHA-512',
    id: 'sha512',
    key: 'of a brand, RSA 4096, sealed',
    purpose: 'signatures of assertions',
    fips: 'approved',
  },
  'OpenPGP sha1': rsaOfOthers('sha1'),
  'OpenPGP sha224': rsaOfOthers('sha224'),
  'OpenPGP sha256': rsaOfOthers('sha256'),
  'OpenPGP sha384': rsaOfOthers('sha384'),
  'OpenPGP sha512': rsaOfOthers('sha512'),
  transfer: {
    algorithm: 'Ed25519',
    id: null,
    key: 'of a site, 256 bits, sealed; a release key, outside the store',
    purpose:
      'statements, requests and receipts of transfers; manifests of backups, and of releases of larder: verified only',
    fips: 'approved',
  },
  'transfer p384': {
    algorithm: 'ECDSA P-384 with SHA-384',
    id: 'sha384',
    key: 'of a site, in the hardware of the key manager',
    purpose: 'the same as Ed25519 keys of sites; the store verifies each',
    fips: 'approved',
  },
  certificate: {
    algorithm: 'RSA PKCS #1 v1.5 with SHA-256',
    id: 'sha256',
    key: 'of the store, RSA 3072, sealed, or RSA of 3072 bits and above in the hardware of the key manager',
    purpose: 'X.509 certificates that the store makes',
    fips: 'approved',
  },
  'registry token': {
    algorithm: 'RSA PKCS #1 v1.5 with SHA-256 (RS256)',
    id: 'sha256',
    key: 'of the store, RSA 3072, sealed',
    purpose: 'tokens for another registry of images',
    fips: 'approved',
  },
  'CRL sha256': revocationList('sha256'),
  'CRL sha384': revocationList('sha384'),
  'CRL sha512': revocationList('sha512'),
  'approval ed25519': approverSignature('Ed25519, also of a hardware token', null),
  'approval sha256': approverSignature('RSA of 2048 to 8192 bits or ECDSA P-256, with SHA-256', 'sha256'),
  'approval sha384': approverSignature('ECDSA P-384 with SHA-384', 'sha384'),
  'approval sha512': approverSignature('RSA of 2048 to 8192 bits or ECDSA P-521, with SHA-512', 'sha512'),
} satisfies Record<string, SignatureAlgorithm>;

/** Uses with a function of their own below, or in another library. */
const others = {
  'derived key': {
    algorithm: 'HKDF-SHA-256',
    key: 'site key, 256 bits',
    purpose: 'a key of 256 bits for each purpose',
    fips: 'approved',
  },
  'password hash': {
    algorithm: 'argon2id, 19 MiB, 2 passes',
    key: 'pepper derived from the site key; salt of 128 bits',
    purpose: 'stores passwords',
    fips: 'not approved',
  },
  'older password hash': {
    algorithm: 'scrypt, 32 MiB, 3 times',
    key: 'pepper derived from the site key; salt of 128 bits',
    purpose: 'stores passwords if the runtime has no argon2id',
    fips: 'not approved',
  },
  'key of a passphrase': {
    algorithm: 'scrypt, 128 MiB',
    key: 'passphrase; salt of 128 bits',
    purpose: 'the keys of the master key file and of the keys inside a backup',
    fips: 'not approved',
  },
  'third-party caveat': {
    algorithm: 'X25519, XSalsa20, Poly1305 (NaCl box and secretbox)',
    key: '256 bits',
    purpose: 'caveats of macaroons for an identity provider, as the clients fix it',
    fips: 'not approved',
    library: 'tweetnacl',
  },
  'key identifier': {
    algorithm: 'SHA-1',
    key: 'none',
    purpose: 'key identifiers in X.509 certificates (RFC 5280, 4.2.1.2); node-forge also encodes the certificates',
    fips: 'none',
    library: 'node-forge',
  },
  'key in a device': {
    algorithm: 'RSA PKCS #1 v1.5 with SHA-512',
    key: 'of a brand, RSA of 4096 bits and above, in the hardware of the key manager',
    purpose: 'signatures of assertions; the store verifies each',
    fips: 'approved',
    library: 'the key manager',
  },
  'client certificate': {
    algorithm: 'RSA of 2048 bits and above, ECDSA P-256, P-384 and P-521, Ed25519; with SHA-256 to SHA-512',
    key: 'of a person and of the authorities above, outside the store',
    purpose: 'logins with client certificates: verified only',
    fips: 'approved',
    library: 'node:tls (OpenSSL)',
  },
  'OpenID token': {
    algorithm: 'RSA (PKCS #1 v1.5 or PSS), ECDSA or EdDSA, with SHA-256 to SHA-512',
    key: 'of the OpenID provider; no shared keys',
    purpose: 'ID tokens and logout tokens: verified only',
    fips: 'approved',
    library: 'openid-client, jose',
  },
  'PostgreSQL login': {
    algorithm: 'SCRAM-SHA-256',
    key: 'password of the database',
    purpose: 'logs in to a PostgreSQL server',
    fips: 'approved',
    library: 'pg',
  },
  'S3 request': {
    algorithm: 'HMAC-SHA-256 (Signature Version 4)',
    key: 'secret of the bucket',
    purpose: 'signs requests to an S3 server',
    fips: 'approved',
    library: 'AWS SDK',
  },
  TLS: {
    algorithm: 'TLS 1.2 and 1.3, AEAD suites with ECDHE over X25519, P-256 and P-384',
    key: 'ephemeral; RSA 3072 or the key of the site',
    purpose: 'HTTPS of the store; connections to PostgreSQL and S3',
    fips: 'approved',
    library: 'node:tls (OpenSSL)',
  },
} satisfies Record<string, CryptographicUse>;

/** All uses, by their kinds. */
export const cryptographicUses: Readonly<Record<string, Readonly<Record<string, CryptographicUse>>>> = {
  Digests: digests,
  Codes: macs,
  Encryption: ciphers,
  Signatures: signatures,
  'Passwords, derived keys and protocols': others,
};

type DigestUse = keyof typeof digests;
type SignatureUse = keyof typeof signatures;
/** The digests of contents. */
export type ContentDigest = 'sha256' | 'sha384' | 'sha512' | 'sha3-384';

export const createDigest = (use: DigestUse): Hash => createHash(digests[use].id);

/** The digest of bytes that are in memory, in hexadecimal digits by default. */
export function computeDigest(use: DigestUse, data: HashInput, encoding?: BinaryToTextEncoding): string;
export function computeDigest(use: DigestUse, data: HashInput, encoding: 'buffer'): Buffer;
export function computeDigest(
  use: DigestUse,
  data: HashInput,
  encoding: BinaryToTextEncoding | 'buffer' = 'hex',
): string | Buffer {
  return hash(digests[use].id, data, encoding);
}

type HashInput = Parameters<typeof hash>[1];

export const createMac = (
  use: keyof typeof macs,
  key: CipherKey,
  options?: { encoding: BufferEncoding },
): ReturnType<typeof createHmac> => createHmac(macs[use].id, key, options);

/** Derives a key of 256 bits for one purpose. A key for one purpose reveals nothing about the others. */
export const deriveKey = (siteKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', siteKey, '', purpose, 32));

const gcm = { authTagLength: 16 };

export const createCipher = (use: keyof typeof ciphers, key: CipherKey, nonce: Buffer): CipherGCM =>
  createCipheriv(ciphers[use].id, key, nonce, gcm);

export const createDecipher = (use: keyof typeof ciphers, key: CipherKey, nonce: Buffer): DecipherGCM =>
  createDecipheriv(ciphers[use].id, key, nonce, gcm);

export const signFor = (use: SignatureUse, bytes: Uint8Array, key: KeyObject): Buffer =>
  sign(signatures[use].id, bytes, key);

/** Signs in the thread pool. An RSA signature takes milliseconds. */
export const signInThread = (use: SignatureUse, bytes: Uint8Array, key: KeyObject): Promise<Buffer> =>
  promisify(sign)(signatures[use].id, bytes, key);

export const verifyFor = (
  use: SignatureUse,
  bytes: Uint8Array,
  key: KeyObject | VerifyKeyObjectInput,
  signature: Uint8Array,
): boolean => verify(signatures[use].id, bytes, key, signature);

/** An option of TLS servers: no session can be resumed, so each connection verifies the certificate of the client. */
export const noSessionTickets: number = constants.SSL_OP_NO_TICKET;

const generateKeyPair = promisify(generateKeyPairCallback);

/** Creates an RSA key in the thread pool, which takes up to a second. 3072 bits are considered secure until well after an authority has expired. */
export const generateRsaKey = (
  use: 'assertion' | 'certificate',
): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> =>
  generateKeyPair('rsa', { modulusLength: use === 'assertion' ? 4096 : 3072, publicExponent: 65537 });

/** Runtimes before Node 24.7 have no argon2. */
export const hasArgon2 = typeof argon2 === 'function';

export const hashWithArgon2 = promisify(
  (parameters: Argon2Parameters, done: (error: Error | null, tag: Buffer) => void): void => {
    argon2('argon2id', parameters, done);
  },
);

export const hashWithScrypt = promisify(
  (
    message: BinaryLike,
    { salt, length, ...options }: ScryptOptions & { salt: Buffer; length: number },
    done: (error: Error | null, tag: Buffer) => void,
  ): void => {
    scrypt(message, salt, length, options, done);
  },
);

/** Derives a key of 256 bits from a passphrase, which takes a good part of a second and 128 MiB, so that guessing is expensive. */
export const deriveFromPassphrase = (passphrase: string, salt: Buffer): Buffer =>
  scryptSync(passphrase.normalize('NFC'), salt, 32, passphraseCost);

export const passphraseCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
