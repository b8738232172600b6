// Encrypts the signing master key with a passphrase, so that the file alone is useless.
import { createCipher, createDecipher, randomBytes, deriveFromPassphrase } from '#domain/cryptography.ts';

/**
 * Returns the text of the file. scrypt derives a key from the passphrase (128 MiB, a good part of a second), which encrypts the master key
 * with AES-256-GCM:
 *
 *     larder-master-key/1 scrypt-131072-8-1 salt=… key=…      (nonce, ciphertext and tag, base64url)
 */
export function wrapWithPassphrase(key: Buffer, passphrase: string): string {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipher('master key', deriveFromPassphrase(passphrase, salt), nonce).setAAD(Buffer.from(heading));
  const sealed = Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
  return `${heading} salt=${salt.toString('base64url')} key=${sealed.toString('base64url')}\n`;
}

/** Returns the key in a text of `wrapWithPassphrase`. Throws if the passphrase is wrong or the text was changed. */
export function unwrapWithPassphrase(text: string, passphrase: string): Buffer {
  const [, salt, sealed] =
    /^larder-master-key\/1 scrypt-131072-8-1 salt=([\w-]{22}) key=([\w-]{80})\n?$/.exec(text) ?? [];
  if (salt === undefined || sealed === undefined) throw new Error('it is not a master key under a passphrase');
  const bytes = Buffer.from(sealed, 'base64url');
  const key = deriveFromPassphrase(passphrase, Buffer.from(salt, 'base64url'));
  const decipher = createDecipher('master key', key, bytes.subarray(0, 12)).setAAD(Buffer.from(heading));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch (cause) {
    throw new Error('the passphrase is another one, or the file was changed', { cause });
  }
}

/** Returns the passphrase in the text of a file, without the newline at its end. */
export const passphraseIn = (text: string): string => text.replace(/\r?\n$/, '');

const heading = 'larder-master-key/1 scrypt-131072-8-1';
