// Who signs: something that holds private keys and signs bytes with them without showing them.
import { constants, sign, type KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { limit } from '#domain/limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { contentOf, joined, type Headers, type Value } from './assertion.ts';
import { open } from './keys.ts';
import { decodePublicKey, encodeSignature, signedBytes } from './openpgp.ts';
import { checkAssertion, typeOf } from './types.ts';

export interface Signer {
  publicKey(keyId: string): Promise<KeyObject>;
  /** Signs bytes with RSASSA-PKCS1-v1_5 and SHA-512, away from the event loop. */
  sign(keyId: string, bytes: Uint8Array): Promise<Uint8Array>;
}

/** What is kept of a signing key. */
export interface KeptKey {
  readonly brandAccountId: string;
  /** The encoded public key. */
  readonly publicKey: string;
  readonly sealed: string;
}

export interface Statement {
  readonly type: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly signedAt: Date;
}

/** Writes and signs an assertion, and gives its text; refuses what its type does not allow. */
export async function signAssertion(signer: Signer, signKeyId: string, statement: Statement): Promise<string> {
  const { type, body = '', signedAt } = statement;
  const { primaryKey, defaults } = typeOf({ type });
  // Neither a default nor something empty is written, and what is not written must not be checked either.
  const isWritten = ([name, value]: [string, Value]) =>
    defaults?.[name] !== value && (typeof value === 'string' || Object.keys(value).length > 0);
  const headers: Headers = Object.fromEntries(Object.entries(statement.headers).filter(isWritten));
  checkAssertion({ type, headers, body, format: Number(headers['format'] ?? 0), signKeyId });
  const content = contentOf(type, primaryKey, headers, body, signKeyId);
  const signature = await signer.sign(signKeyId, signedBytes(content, signedAt));
  return joined({ content, signature: encodeSignature(content, signedAt, signature) });
}

/**
 * Signs with sealed keys of this store. Each call looks the key up, so that a key which was removed meanwhile signs no
 * more; what was opened is kept for the next call, for at most `openKeys` keys.
 *
 * @param masterKey the master key, or undefined while the store is sealed
 */
export function softwareSigner(
  find: (keyId: string) => Promise<KeptKey | undefined>,
  masterKey: () => KeyObject | undefined,
  openKeys = 16,
): Signer {
  const opened = new Map<string, KeyObject>();
  // One core is left to everybody else: signing on all of them would hold up the answers to those who want no signature.
  const inTurn = limit({ atOnce: Math.max(1, availableParallelism() - 1) });

  async function kept(keyId: string): Promise<KeptKey> {
    const key = await find(keyId);
    if (key === undefined) throw new Refusal('resource-not-found', `There is no signing key ${keyId}.`);
    return key;
  }

  function privateKey(keyId: string, { brandAccountId, sealed }: KeptKey): KeyObject {
    const master = masterKey();
    if (master === undefined) {
      opened.clear();
      throw new Refusal('sealed', 'The store is sealed: give it the master key, then signing works again.');
    }
    // The owner is part of the name: a record moved to another brand must be opened again, and fail.
    const name = [brandAccountId, keyId, sealed].join('\n');
    const key = opened.get(name) ?? open(master, { brandAccountId, keyId }, sealed);
    // Taken out and put back, the key used last stands last and the first is the one to forget.
    opened.delete(name);
    opened.set(name, key);
    for (const oldest of opened.keys()) {
      if (opened.size <= openKeys) break;
      opened.delete(oldest);
    }
    return key;
  }

  return {
    publicKey: async (keyId) => decodePublicKey((await kept(keyId)).publicKey),
    sign: async (keyId, bytes) => inTurn(async () => signWith(privateKey(keyId, await kept(keyId)), bytes)),
  };
}

function signWith(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha512', bytes, { key, padding: constants.RSA_PKCS1_PADDING }, (fault, signature) => {
      if (fault) reject(new Error('cannot sign', { cause: fault }));
      else resolve(signature);
    });
  });
}
