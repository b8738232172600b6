// Seals secrets with AES-256-GCM under the site key, bound to their purpose.
import { createCipher, createDecipher, randomBytes } from '#domain/cryptography.ts';

/** Seals a secret; the text is `1.<nonce>.<tag and ciphertext>`, base64url. `purpose` must be given again to open it. */
export function seal(siteKey: Buffer, secret: Buffer, purpose: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipher('secret', siteKey, nonce).setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return `1.${nonce.toString('base64url')}.${Buffer.concat([cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Opens a sealed secret; throws if the key, the purpose or the text differs. */
export function unseal(siteKey: Buffer, text: string, purpose: string): Buffer {
  const [version, nonce = '', rest = ''] = text.split('.');
  if (version !== '1') throw new Error(`cannot open the ${purpose}: it was sealed by a newer release`);
  const bytes = Buffer.from(rest, 'base64url');
  try {
    const decipher = createDecipher('secret', siteKey, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(0, 16));
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]);
  } catch (cause) {
    throw new Error(`cannot open the ${purpose}: it was sealed with another site key, or it is corrupt`, { cause });
  }
}
