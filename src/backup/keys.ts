// Encrypts the wrapping keys in a backup with a passphrase. scrypt makes guessing passphrases expensive.
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';

/** The texts of the key files by their names, such as `site.key`. */
export type KeyTexts = Record<string, string>;

export const keysName = 'keys.json';
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

export function lockKeys(keys: KeyTexts, passphrase: string): Buffer {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', keyOf(passphrase, salt), nonce).setAAD(Buffer.from(keysName));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(keys)), cipher.final()]);
  const parts = {
    format: 1,
    kdf: 'scrypt',
    n: cost.N,
    r: cost.r,
    p: cost.p,
    salt,
    nonce,
    tag: cipher.getAuthTag(),
    sealed,
  };
  return Buffer.from(
    JSON.stringify(parts, (_, value: unknown) =>
      isBuffer(value) ? Buffer.from(value.data).toString('base64') : value,
    ),
  );
}

/** Returns the keys, or undefined if the passphrase is wrong. */
export function unlockKeys(locked: Buffer, passphrase: string): KeyTexts | undefined {
  const parts = JSON.parse(locked.toString('utf8')) as Record<'salt' | 'nonce' | 'tag' | 'sealed', string>;
  const bytes = (name: keyof typeof parts): Buffer => Buffer.from(parts[name], 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(passphrase, bytes('salt')), bytes('nonce'), {
      authTagLength: 16,
    })
      .setAAD(Buffer.from(keysName))
      .setAuthTag(bytes('tag'));
    return JSON.parse(Buffer.concat([decipher.update(bytes('sealed')), decipher.final()]).toString('utf8')) as KeyTexts;
  } catch {
    return undefined;
  }
}

const keyOf = (passphrase: string, salt: Buffer): Buffer => scryptSync(passphrase.normalize('NFC'), salt, 32, cost);

const isBuffer = (value: unknown): value is { type: 'Buffer'; data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
