// Reads imported private keys: PEM, or the output of gpg --export-secret-keys --armor. From OpenPGP (RFC 4880) it reads only an RSA secret
// key packet without a passphrase.
import { createPrivateKey, createPublicKey, type KeyObject } from '#domain/cryptography.ts';
import { Refusal } from '#domain/refusal.ts';
import { ByteReader } from '../format/openpgp.ts';

const secretKeyTag = 5;
const rsa = 1;

/** Reads a private key. Refuses a key with a passphrase, and any key that is not RSA of 2048 to 16384 bits. */
export function readSecretKey(text: string): KeyObject {
  const key = text.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----') ? fromArmour(text) : fromPem(text);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== 'rsa' || bits < 2048 || bits > 16_384)
    throw no('it is not an RSA key of 2048 bits or more, which assertions need');
  return key;
}

function fromPem(text: string): KeyObject {
  if (/-----BEGIN (?:ENCRYPTED PRIVATE KEY|RSA PRIVATE KEY-----\s+Proc-Type: 4,ENCRYPTED)/.test(text)) {
    throw no("it is protected by a passphrase; remove that with 'openssl pkey -in FILE -out FREE'");
  }
  try {
    return createPrivateKey(text);
  } catch {
    // Do not include the original error: it may quote the key.
    throw no('it is neither PEM of a private key nor a private key that gpg has written with --armor');
  }
}

/** Reads the first secret key of an armoured block. Ignores the 24-bit checksum, because the key's own numbers are checked. */
function fromArmour(text: string): KeyObject {
  const [, inner = ''] =
    /-----BEGIN PGP PRIVATE KEY BLOCK-----\r?\n([^]*?)-----END PGP PRIVATE KEY BLOCK-----/.exec(text) ?? [];
  const body = inner.replace(/^(?:[A-Za-z]+: .*\r?\n)*\r?\n/, '').replace(/^=[A-Za-z0-9+/]{4}\s*$/m, '');
  const reader = new ByteReader(Buffer.from(body, 'base64'), 'private key');
  const header = reader.byte();
  if ((header & 0x80) === 0) throw no('it is truncated, or corrupt at its beginning');
  const isNew = (header & 0x40) !== 0;
  const tag = isNew ? header & 0x3f : (header >> 2) & 0x0f;
  const packet = reader.take(isNew ? reader.packetLength() : reader.oldPacketLength(header & 3));
  if (tag !== secretKeyTag) throw no('it does not begin with a secret key');
  return fromPacket(new ByteReader(packet, 'private key'));
}

function fromPacket(reader: ByteReader): KeyObject {
  if (reader.byte() !== 4) throw no('its version of OpenPGP is not supported');
  reader.take(4);
  if (reader.byte() !== rsa) throw no('it is not an RSA key, which assertions need');
  const [n, e] = [reader.integer().number, reader.integer().number];
  if (reader.byte() !== 0) {
    throw no(
      "it is protected by a passphrase; run 'gpg --passwd KEY', leave the new passphrase empty, and export the key again",
    );
  }
  const begin = reader.at;
  const [d, p, q, u] = [
    reader.integer().number,
    reader.integer().number,
    reader.integer().number,
    reader.integer().number,
  ];
  const sum = reader.bytes.subarray(begin, reader.at).reduce((total, byte) => (total + byte) & 0xffff, 0);
  if (reader.uint16() !== sum) throw no('it is corrupt: its checksum is wrong');
  return keyOf({ n, e, d, p, q, u });
}

/** OpenPGP stores the inverse of p modulo q, a JWK that of q modulo p (RFC 7518, section 6.3.2), so p and q are swapped. */
function keyOf({ n, e, d, p, q, u }: Record<'n' | 'e' | 'd' | 'p' | 'q' | 'u', Buffer>): KeyObject {
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  const number = (bytes: Buffer): bigint => BigInt(`0x0${bytes.toString('hex')}`);
  const [p1, q1] = [number(p) - 1n, number(q) - 1n];
  const isWhole =
    p1 > 1n &&
    q1 > 1n &&
    number(p) * number(q) === number(n) &&
    (number(e) * number(d)) % p1 === 1n &&
    (number(e) * number(d)) % q1 === 1n;
  if (!isWhole) throw no('its numbers are not those of an RSA key');
  const rest = (prime: Buffer): string => {
    const hex = (number(d) % (number(prime) - 1n)).toString(16);
    return Buffer.from(hex.padStart(prime.length * 2, '0'), 'hex').toString('base64url');
  };
  try {
    const jwk = { n: text(n), e: text(e), d: text(d), p: text(q), q: text(p), dp: rest(q), dq: rest(p), qi: text(u) };
    const key = createPrivateKey({ key: { kty: 'RSA', ...jwk }, format: 'jwk' });
    createPublicKey(key);
    return key;
  } catch {
    throw no('its numbers are not those of an RSA key');
  }
}

const no = (reason: string): Refusal => new Refusal('api-error', `The private key cannot be read: ${reason}.`);
