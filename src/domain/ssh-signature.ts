// Signatures as `ssh-keygen -Y sign` writes them (OpenSSH, PROTOCOL.sshsig).
import { createHash } from 'node:crypto';

import { SshFields, sshField, sshKeyOf, type SshKey } from './ssh-key.ts';

/** No key that is taken has a longer one. */
export const longestSshSignature = 8192;

export interface SshSignature {
  /** What it was made for, so that a signature that was made for something else is none. */
  namespace: string;
  key: SshKey;
  /** The same in the one form in which it is kept, which `ssh-keygen -Y verify` reads. */
  text: string;
  /** Whether this is what was signed. */
  isOf(message: Buffer): boolean;
}

const magic = 'SSHSIG';
const head = '-----BEGIN SSH SIGNATURE-----';
const foot = '-----END SSH SIGNATURE-----';
const hashes = ['sha256', 'sha512'];

/** Reads what such a file holds; undefined where it is none, or one of a key that is not taken. */
export function readSshSignature(text: string): SshSignature | undefined {
  if (text.length > longestSshSignature) return undefined;
  const lines = text.trim().split(/\r?\n/);
  if (lines.shift() !== head || lines.pop() !== foot) return undefined;
  const encoded = lines.join('');
  const blob = Buffer.from(encoded, 'base64');
  return blob.toString('base64') === encoded ? signatureIn(blob) : undefined;
}

function signatureIn(blob: Buffer): SshSignature | undefined {
  const fields = new SshFields(blob);
  if (fields.take(magic.length)?.toString('latin1') !== magic || fields.number() !== 1) return undefined;
  const [publicKey, namespace, reserved, hash] = [fields.field(), fields.field(), fields.field(), fields.text()];
  const signature = fields.field();
  if (publicKey === undefined || namespace === undefined || signature === undefined || !fields.isAtEnd)
    return undefined;
  const key = sshKeyOf(publicKey);
  if (key === undefined || reserved?.length !== 0 || hash === undefined || !hashes.includes(hash)) return undefined;
  return {
    namespace: namespace.toString('latin1'),
    key,
    text: armoured(blob),
    isOf(message) {
      const digest = createHash(hash).update(message).digest();
      const told = [sshField(namespace), sshField(''), sshField(hash), sshField(digest)];
      return key.hasSigned(Buffer.concat([Buffer.from(magic), ...told]), signature);
    },
  };
}

const armoured = (blob: Buffer): string =>
  [head, ...(blob.toString('base64').match(/.{1,70}/g) ?? []), foot, ''].join('\n');
