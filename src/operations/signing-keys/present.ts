import type { SigningKey as SigningKeyShape } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts.ts';
import type { SigningKey } from '#records/signing-keys.ts';
import { presentMakers } from '../brands/present.ts';

export const presentSigningKey = (
  key: Omit<SigningKey, 'sealed' | 'publicKey'>,
  people: Map<string, Account>,
): SigningKeyShape => ({
  'brand-account-id': key.brandAccountId,
  fingerprint: key.fingerprint,
  name: key.name,
  'sha3-384': key.sha3_384,
  ...presentMakers(key, people),
});

/** The refusal of a key that a brand does not have. */
export const noSigningKey = (brandAccountId: string, sha3_384: string): Refusal =>
  new Refusal('resource-not-found', `Brand ${brandAccountId} has no signing key '${sha3_384.slice(0, 100)}'.`);
