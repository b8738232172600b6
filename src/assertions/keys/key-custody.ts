// Custody of signing keys: creates and destroys them and signs with them, without exposing private keys. A key is recorded sealed under the
// master key, or it is in the device of the key manager and its record has the name that it has there.
import { signInThread, type KeyObject } from '#domain/cryptography.ts';
import { availableParallelism } from 'node:os';

import { BoundedMap } from '#domain/bounded-map.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { managedKeyPrefix } from '#records/keys/signing-keys.ts';
import type { KeyManager } from './key-manager.ts';
import { makeSealedKey, open, sealedKeyOf, type SealedKey } from './sealed-keys.ts';
import {
  decodePublicKey,
  encodePublicKey,
  encodeSignature,
  fingerprint,
  keyId as idOf,
  signedBytes,
} from '../format/openpgp.ts';
import type { Signer } from './signer.ts';

export interface KeyCustody extends Signer {
  /** Creates an RSA key of 4096 bits for a brand and returns its record. Throws if the store is sealed. */
  make(brandAccountId: string): Promise<SealedKey>;
  /** Returns the record of the key with this name in the key manager, after it has signed once. */
  register(managerKey: string): Promise<SealedKey>;
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

export interface CustodyParts {
  /** Returns the record of a key. */
  find: (keyId: string) => Promise<SigningKeyRecord | undefined>;
  /** Returns the master key, or undefined while the store is sealed. */
  masterKey: () => KeyObject | undefined;
  manager: KeyManager;
  openKeys?: number;
}

/** Each call reads the record, so that a deleted key signs nothing. Opened keys are cached, at most `openKeys`. */
export function createKeyCustody({ find, masterKey, manager, openKeys = 16 }: CustodyParts): KeyCustody {
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
    async sign(keyId, content, signedAt) {
      const key = await findKey(keyId);
      const managerKey = managerKeyOf(key.sealed);
      // Not in turn with the other keys: a device can be slow.
      if (managerKey !== undefined) return manager.sign(managerKey, decodePublicKey(key.publicKey), content, signedAt);
      return inTurn(async () => {
        const master = unsealed('master key, then signing works again');
        const number = await signWith(opened.key(master, keyId, key), signedBytes(content, signedAt));
        return encodeSignature(content, signedAt, number);
      });
    },
    async register(managerKey) {
      refuseKeyName(managerKey);
      const publicKey = await manager.publicKey(managerKey);
      // Proves before the key is recorded that it can be used, and that the device accepts the PIN.
      await manager.sign(managerKey, publicKey, 'larder key create\n', new Date(0));
      return {
        sha3_384: idOf(publicKey),
        fingerprint: fingerprint(publicKey),
        publicKey: encodePublicKey(publicKey),
        sealed: `${managedKeyPrefix}${managerKey}`,
      };
    },
    make: async (brandAccountId) =>
      makeSealedKey(unsealed('signing master key, then keys can be made again'), brandAccountId),
    keep: (brandAccountId, privateKey) =>
      sealedKeyOf(unsealed('signing master key, then keys can be taken in again'), brandAccountId, privateKey),
    destroy: (keyId) => {
      opened.forget(keyId);
    },
  };
}

/** The name of a key in the key manager; undefined for a key that is sealed in its record. */
export const managerKeyOf = (sealed: string): string | undefined =>
  sealed.startsWith(managedKeyPrefix) ? sealed.slice(managedKeyPrefix.length) : undefined;

/** The program gets the name as an argument: a dash at its beginning would make it an option. */
export function refuseKeyName(managerKey: string): void {
  if (/^(?!-)\P{C}{1,128}$/u.test(managerKey)) return;
  throw new Refusal(
    'api-error',
    'The name of a key in the key manager has 1 to 128 printable characters and does not begin with a dash.',
  );
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

/** RSASSA-PKCS1-v1_5 with SHA-512. */
async function signWith(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  try {
    return await signInThread('assertion', bytes, key);
  } catch (cause) {
    throw new Error('cannot sign', { cause });
  }
}
