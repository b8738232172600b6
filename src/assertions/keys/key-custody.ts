// Custody of signing keys: creates and destroys them and signs with them, without exposing private keys.
import { constants, sign, type KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';

import { BoundedMap } from '#domain/bounded-map.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { makeSealedKey, open, sealedKeyOf, type SealedKey } from './sealed-keys.ts';
import { decodePublicKey } from '../format/openpgp.ts';
import type { Signer } from './signer.ts';

export interface KeyCustody extends Signer {
  /** Creates an RSA key of 4096 bits for a brand and returns its record. Throws if the store is sealed. */
  make(brandAccountId: string): Promise<SealedKey>;
  /** Seals an imported key of a brand and returns its record. Throws if the store is sealed. */
  keep(brandAccountId: string, privateKey: KeyObject): SealedKey;
  /** Removes all cached data of a key after its record was deleted. */
  destroy(keyId: string): void;
}

/** The record of a signing key. */
export interface SigningKeyRecord {
  readonly brandAccountId: string;
  /** The encoded public key. */
  readonly publicKey: string;
  readonly sealed: string;
}

/**
 * Custody of keys that are recorded sealed under the master key. Each call reads the record, so that a deleted key signs nothing. Opened
 * keys are cached, at most `openKeys`.
 *
 * @param find returns the record of a key
 * @param masterKey returns the master key, or undefined while the store is sealed
 */
export function softwareCustody(
  find: (keyId: string) => Promise<SigningKeyRecord | undefined>,
  masterKey: () => KeyObject | undefined,
  openKeys = 16,
): KeyCustody {
  const opened = new OpenedKeys(openKeys);
  // Leave one core free: signing on all cores would delay requests that need no signature.
  const inTurn = createConcurrencyLimit({ concurrency: Math.max(1, availableParallelism() - 1) });

  async function findKey(keyId: string): Promise<SigningKeyRecord> {
    const key = await find(keyId);
    if (key === undefined) throw new Refusal('resource-not-found', `There is no signing key ${keyId}.`);
    return key;
  }

  function unsealed(remedy: string): KeyObject {
    const master = masterKey();
    if (master !== undefined) return master;
    opened.clear();
    throw new Refusal('sealed', `The store is sealed. Give it the ${remedy}.`);
  }

  return {
    publicKey: async (keyId) => decodePublicKey((await findKey(keyId)).publicKey),
    sign: (keyId, bytes) =>
      inTurn(async () => {
        const key = await findKey(keyId);
        const master = unsealed('master key, then signing works again');
        return signWith(opened.key(master, keyId, key), bytes);
      }),
    make: async (brandAccountId) =>
      makeSealedKey(unsealed('signing master key, then keys can be made again'), brandAccountId),
    keep: (brandAccountId, privateKey) =>
      sealedKeyOf(unsealed('signing master key, then keys can be taken in again'), brandAccountId, privateKey),
    destroy: (keyId) => {
      opened.forget(keyId);
    },
  };
}

/** Cache of recently opened private keys. */
class OpenedKeys {
  readonly #keys: BoundedMap<string, { keyId: string; key: KeyObject }>;

  constructor(maxKeys: number) {
    this.#keys = new BoundedMap(maxKeys);
  }

  key(master: KeyObject, keyId: string, { brandAccountId, sealed }: SigningKeyRecord): KeyObject {
    // The cache key includes the owner: a record that was moved to another brand must be opened again, and fail.
    const name = [brandAccountId, keyId, sealed].join('\n');
    const key = this.#keys.get(name)?.key ?? open(master, { brandAccountId, keyId }, sealed);
    // Insert again at each use, so that the least recently used key is dropped first.
    this.#keys.set(name, { keyId, key });
    return key;
  }

  forget(keyId: string): void {
    for (const [name, entry] of this.#keys) if (entry.keyId === keyId) this.#keys.delete(name);
  }

  clear(): void {
    this.#keys.clear();
  }
}

/** RSASSA-PKCS1-v1_5 with SHA-512, in the thread pool. */
function signWith(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha512', bytes, { key, padding: constants.RSA_PKCS1_PADDING }, (fault, signature) => {
      if (fault) reject(new Error('cannot sign', { cause: fault }));
      else resolve(signature);
    });
  });
}
