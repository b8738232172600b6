import type { SerialPolicy as SerialPolicyShape } from '#contract/wire.ts';
import type { SerialPolicy } from '#records/brands/serial-policies.ts';

export const presentSerialPolicy = (policy: SerialPolicy): SerialPolicyShape => ({
  authority: policy.authority,
  'created-at': policy.createdAt,
  'created-by': policy.createdBy,
  'model-name': policy.modelName,
  revision: policy.revision,
  'signing-key-sha3-384': policy.signingKeySha3384,
});
