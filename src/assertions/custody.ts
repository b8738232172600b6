// Custody of signing keys: what makes them, signs with them and forgets them, and shows their private halves to nobody.
import type { KeyObject } from 'node:crypto';

import { Refusal } from '#domain/refusal.ts';
import { makeSealedKey, type SealedKey } from './keys.ts';
import { softwareSigner, type KeptKey, type Signer } from './signer.ts';

export interface Custody extends Signer {
  /** Makes the key of a brand, RSA of 4096 bits, as it is to be recorded; refuses while the store is sealed. */
  make(brandAccountId: string): Promise<SealedKey>;
}

/**
 * Keys that are kept in the records, sealed under the master key.
 *
 * @param find what is recorded of a key
 * @param masterKey the master key, or undefined while the store is sealed
 */
export const softwareCustody = (
  find: (keyId: string) => Promise<KeptKey | undefined>,
  masterKey: () => KeyObject | undefined,
): Custody => ({
  ...softwareSigner(find, masterKey),

  async make(brandAccountId) {
    const key = masterKey();
    if (key !== undefined) return makeSealedKey(key, brandAccountId);
    throw new Refusal('sealed', 'The store is sealed: give it the signing master key, then keys can be made again.');
  },
});
