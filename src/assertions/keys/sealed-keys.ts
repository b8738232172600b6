// Creates private keys, seals them under the master key and opens them for signing.
import {
  createCipher,
  createDecipher,
  createMac,
  createPrivateKey,
  createPublicKey,
  generateRsaKey,
  randomBytes,
  type KeyObject,
} from '#domain/cryptography.ts';

import { Refusal } from '#domain/refusal.ts';
import { encodePublicKey, fingerprint, keyId } from '../format/openpgp.ts';

/** Creates an RSA key of 4096 bits in the thread pool, which takes about a second. */
export async function generateKey(): Promise<KeyObject> {
  const { privateKey } = await generateRsaKey('assertion');
  return privateKey;
}

/** Creates a signing key of a brand and returns its record. The private key leaves this module only sealed. */
export const makeSealedKey = async (masterKey: KeyObject, brandAccountId: string): Promise<SealedKey> =>
  sealedKeyOf(masterKey, brandAccountId, await generateKey());

/** Returns the record of an imported key of a brand. */
export function sealedKeyOf(masterKey: KeyObject, brandAccountId: string, privateKey: KeyObject): SealedKey {
  const publicKey = createPublicKey(privateKey);
  const id = keyId(publicKey);
  return {
    sha3_384: id,
    fingerprint: fingerprint(publicKey),
    publicKey: encodePublicKey(publicKey),
    sealed: seal(masterKey, { brandAccountId, keyId: id }, privateKey),
  };
}

export interface SealedKey {
  readonly sha3_384: string;
  readonly fingerprint: string;
  readonly publicKey: string;
  readonly sealed: string;
}

/** The owner of a key. A sealed key cannot be opened for another owner. */
export interface KeyOwner {
  readonly brandAccountId: string;
  readonly keyId: string;
}

/**
 * Seals a private key. A new data key encrypts it, and the master key encrypts the data key, both with AES-256-GCM bound to the owner.
 * Format of the text:
 *
 *     larder-sealed-key/1 aes-256-gcm master=… data-key=… private-key=…
 *
 * `master` identifies the master key without revealing it; the other values are nonce, ciphertext and tag.
 */
export function seal(masterKey: KeyObject, owner: KeyOwner, privateKey: KeyObject): string {
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  const dataKey = randomBytes(32);
  try {
    return written(
      masterKey,
      encrypt(masterKey, owner, 'data-key', dataKey),
      encrypt(dataKey, owner, 'private-key', der),
    );
  } finally {
    dataKey.fill(0);
    der.fill(0);
  }
}

/** Opens a sealed key. Under another master key it is as if the store were sealed; other failures are internal errors. */
export function open(masterKey: KeyObject, owner: KeyOwner, sealed: string): KeyObject {
  const parts = read(owner, sealed);
  const dataKey = openDataKey(masterKey, owner, parts);
  let der: Buffer | undefined;
  try {
    der = decrypt(dataKey, owner, 'private-key', parts.privateKey);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    if (keyId(createPublicKey(privateKey)) !== owner.keyId) throw new Error('another key was sealed');
    return privateKey;
  } catch (cause) {
    throw cannotOpen(owner, 'its record was damaged or belongs to another brand or key', cause);
  } finally {
    dataKey.fill(0);
    der?.fill(0);
  }
}

/** Reseals the data key under another master key. The private key stays encrypted. */
export function reseal(masterKey: KeyObject, newMasterKey: KeyObject, owner: KeyOwner, sealed: string): string {
  const parts = read(owner, sealed);
  const dataKey = openDataKey(masterKey, owner, parts);
  try {
    return written(newMasterKey, encrypt(newMasterKey, owner, 'data-key', dataKey), parts.privateKey);
  } finally {
    dataKey.fill(0);
  }
}

const heading = 'larder-sealed-key/1 aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

interface SealedKeyParts {
  readonly master: string;
  readonly dataKey: Buffer;
  readonly privateKey: Buffer;
}

/** The beginning of every key that is sealed under a master key, and of no other. */
export const sealedPrefixOf = (masterKey: KeyObject): string => `${heading} master=${markOf(masterKey)} `;

const written = (masterKey: KeyObject, dataKey: Buffer, privateKey: Buffer): string =>
  `${sealedPrefixOf(masterKey)}data-key=${dataKey.toString('base64url')} private-key=${privateKey.toString('base64url')}`;

function read(owner: KeyOwner, sealed: string): SealedKeyParts {
  const match = /^master=([0-9a-f]{16}) data-key=([\w-]+) private-key=([\w-]+)$/.exec(
    sealed.startsWith(`${heading} `) ? sealed.slice(heading.length + 1) : '',
  );
  if (!match) throw cannotOpen(owner, 'its record is not a sealed key of a kind this version knows');
  const [, master = '', dataKey = '', privateKey = ''] = match;
  return { master, dataKey: Buffer.from(dataKey, 'base64url'), privateKey: Buffer.from(privateKey, 'base64url') };
}

function openDataKey(masterKey: KeyObject, owner: KeyOwner, { master, dataKey }: SealedKeyParts): Buffer {
  if (master !== markOf(masterKey)) {
    const { message } = cannotOpen(owner, 'it was sealed under another master key');
    throw new Refusal('sealed', `${message}. Give the store the master key that sealed it, then signing works again.`);
  }
  try {
    return decrypt(masterKey, owner, 'data-key', dataKey);
  } catch (cause) {
    throw cannotOpen(owner, 'its record was damaged or belongs to another brand or key', cause);
  }
}

function encrypt(key: KeyObject | Buffer, owner: KeyOwner, role: string, plain: Buffer): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipher('signing key', key, nonce).setAAD(toAssociatedData(owner, role));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: KeyObject | Buffer, owner: KeyOwner, role: string, bytes: Buffer): Buffer {
  const tagStart = bytes.length - tagLength;
  if (tagStart < nonceLength) throw new Error('the ciphertext is too short');
  const decipher = createDecipher('signing key', key, bytes.subarray(0, nonceLength))
    .setAAD(toAssociatedData(owner, role))
    .setAuthTag(bytes.subarray(tagStart));
  const plain = decipher.update(bytes.subarray(nonceLength, tagStart));
  try {
    decipher.final();
  } catch (cause) {
    plain.fill(0);
    throw cause;
  }
  return plain;
}

/** Neither id can contain a newline, so the encoding of owners is unambiguous. */
const toAssociatedData = ({ brandAccountId, keyId }: KeyOwner, role: string): Buffer =>
  Buffer.from(`${heading}\n${role}\n${brandAccountId}\n${keyId}`);

/** Identifies a master key. 64 bits of an HMAC reveal nothing about the key. */
function markOf(masterKey: KeyObject): string {
  if (masterKey.type !== 'secret' || masterKey.symmetricKeySize !== 32)
    throw new Error('cannot use a master key that is not 32 bytes long');
  return createMac('master key mark', masterKey).update('larder master key').digest('hex').slice(0, 16);
}

const cannotOpen = ({ brandAccountId, keyId }: KeyOwner, reason: string, cause?: unknown): Error =>
  new Error(`cannot open the signing key ${keyId} of brand ${brandAccountId}: ${reason}`, { cause });
