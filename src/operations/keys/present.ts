import type { SigningKey as SigningKeyShape } from '#contract/wire.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
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
