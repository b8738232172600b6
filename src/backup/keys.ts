// Encrypts the wrapping keys in a backup with a passphrase. scrypt makes guessing passphrases expensive.
import {
  createCipher,
  createDecipher,
  randomBytes,
  passphraseCost,
  deriveFromPassphrase,
} from '#domain/cryptography.ts';

/** The texts of the key files by their names, such as `site.key`. */
export type KeyTexts = Record<string, string>;

export const keysName = 'keys.json';

export function lockKeys(keys: KeyTexts, passphrase: string): Buffer {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipher('backup keys', deriveFromPassphrase(passphrase, salt), nonce).setAAD(
    Buffer.from(keysName),
  );
  const sealed = Buffer.concat([cipher.update(JSON.stringify(keys)), cipher.final()]);
  const parts = {
    format: 1,
    kdf: 'scrypt',
    n: passphraseCost.N,
    r: passphraseCost.r,
    p: passphraseCost.p,
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
    const decipher = createDecipher('backup keys', deriveFromPassphrase(passphrase, bytes('salt')), bytes('nonce'))
      .setAAD(Buffer.from(keysName))
      .setAuthTag(bytes('tag'));
    return JSON.parse(Buffer.concat([decipher.update(bytes('sealed')), decipher.final()]).toString('utf8')) as KeyTexts;
  } catch {
    return undefined;
  }
}

const isBuffer = (value: unknown): value is { type: 'Buffer'; data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
