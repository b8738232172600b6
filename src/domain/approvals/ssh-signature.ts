// Signatures in the format of `ssh-keygen -Y sign` (OpenSSH, PROTOCOL.sshsig).
import { createDigest } from '../cryptography.ts';
import { SshFields, sshField, sshKeyOf, type SshKey } from './ssh-key.ts';

/** Signatures of all supported keys are shorter. */
export const maxSshSignatureLength = 8192;

export interface SshSignature {
  /** The purpose of the signature. A signature made for another purpose must not be accepted. */
  namespace: string;
  key: SshKey;
  /** The signature in canonical form, as stored; `ssh-keygen -Y verify` reads it. */
  text: string;
  /** Verifies the signature of a message. */
  isOf(message: Buffer): boolean;
}

const magic = 'SSHSIG';
const head = '-----BEGIN SSH SIGNATURE-----';
const foot = '-----END SSH SIGNATURE-----';
const hashes = ['sha256', 'sha512'] as const;

/** Parses a signature file. Returns undefined if it is invalid or made with an unsupported key. */
export function readSshSignature(text: string): SshSignature | undefined {
  if (text.length > maxSshSignatureLength) return undefined;
  const lines = text.trim().split(/\r?\n/);
  if (lines.shift() !== head || lines.pop() !== foot) return undefined;
  const encoded = lines.join('');
  const blob = Buffer.from(encoded, 'base64');
  return blob.toString('base64') === encoded ? signatureIn(blob) : undefined;
}

function signatureIn(blob: Buffer): SshSignature | undefined {
  const fields = new SshFields(blob);
  if (fields.take(magic.length)?.toString('latin1') !== magic || fields.number() !== 1) return undefined;
  const [publicKey, namespace, reserved, hashName] = [fields.field(), fields.field(), fields.field(), fields.text()];
  const signature = fields.field();
  if (publicKey === undefined || namespace === undefined || signature === undefined || !fields.isAtEnd)
    return undefined;
  const key = sshKeyOf(publicKey);
  if (key === undefined || reserved?.length !== 0) return undefined;
  const hash = hashes.find((name) => name === hashName);
  if (hash === undefined) return undefined;
  return {
    namespace: namespace.toString('latin1'),
    key,
    text: armoured(blob),
    isOf(message) {
      const digest = createDigest(`approval ${hash}`).update(message).digest();
      const signedFields = [sshField(namespace), sshField(''), sshField(hash), sshField(digest)];
      return key.hasSigned(Buffer.concat([Buffer.from(magic), ...signedFields]), signature);
    },
  };
}

const armoured = (blob: Buffer): string =>
  [head, ...(blob.toString('base64').match(/.{1,70}/g) ?? []), foot, ''].join('\n');
