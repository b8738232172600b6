// The Curve25519 keys of the bakery: of a discharger, a gateway or an agent.
import { randomBytes } from '#domain/cryptography.ts';
import nacl from 'tweetnacl';
import { bytesFromBase64 } from './encoding.ts';

/** A Curve25519 pair, 32 bytes each. */
export interface KeyPair {
  publicKey: Buffer;
  privateKey: Buffer;
}

export function newKeyPair(): KeyPair {
  return keyPairFrom(randomBytes(keyLength));
}

export function keyPairFrom(privateKey: Buffer): KeyPair {
  const { publicKey } = nacl.box.keyPair.fromSecretKey(privateKey);
  return { publicKey: Buffer.from(publicKey), privateKey };
}

/** Keys are written as standard base64. */
export function keyText(key: Buffer): string {
  return key.toString('base64');
}

export function readKeyText(text: string): Buffer | undefined {
  const key = bytesFromBase64(text);
  return key?.length === keyLength ? key : undefined;
}

export const keyLength = nacl.box.publicKeyLength;
