// A text, the kinds of keys, and a token, for the tests of SSH signatures.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';

import { readSshKey, sshField } from '#domain/approvals/ssh-key.ts';
import { readSshSignature } from '#domain/approvals/ssh-signature.ts';

export const message = 'larder approval 1\nstore: "site-b"\n';

export const armoured = (blob: Buffer): string =>
  `-----BEGIN SSH SIGNATURE-----\n${blob.toString('base64')}\n-----END SSH SIGNATURE-----\n`;

export const blobOf = (text: string): Buffer => Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64');

/** Whether a signature is accepted as one of this key of this text. */
export function isTaken(signature: string, publicKey: string, text = message): boolean {
  const read = readSshSignature(signature);
  return (
    read?.namespace === 'larder-approval' &&
    read.key.line === readSshKey(publicKey)?.line &&
    read.isOf(Buffer.from(text))
  );
}

export const kinds = ['ed25519', 'ecdsa 256', 'ecdsa 384', 'ecdsa 521', 'rsa 2048'];

/** A key in a token: a signature by hand, which ssh-keygen takes for one. */
export function token(flags: number) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const type = 'sk-ssh-ed25519@openssh.com';
  const key = Buffer.concat([sshField(type), sshField(point), sshField('ssh:')]);
  const hashed = (hash: string, bytes: string | Buffer): Buffer => createHash(hash).update(bytes).digest();
  const about = Buffer.from([flags, 0, 0, 0, 7]);
  const tail = [sshField(''), sshField('sha512')];
  const signed = Buffer.concat([
    Buffer.from('SSHSIG'),
    ...[sshField('larder-approval'), ...tail, sshField(hashed('sha512', message))],
  ]);
  const payload = Buffer.concat([hashed('sha256', 'ssh:'), about, hashed('sha256', signed)]);
  const value = Buffer.concat([sshField(type), sshField(sign(null, payload, privateKey)), about]);
  const version = Buffer.from([0, 0, 0, 1]);
  const parts = [Buffer.from('SSHSIG'), version, sshField(key), sshField('larder-approval'), ...tail, sshField(value)];
  return { publicKey: `${type} ${key.toString('base64')}`, signature: armoured(Buffer.concat(parts)) };
}
