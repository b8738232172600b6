// Publishes the key that services use to encrypt caveats for this identity provider.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

export const dischargeInfo = operation({
  name: 'discharge_info',
  method: 'GET',
  path: '/identity/discharge/info',
  since: 0,
  summary: 'Get the public key of the identity provider, and the newest version of caveats that it supports.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  response: 'DischargerInfo',
  handle: async ({ discharger }) => ({ PublicKey: await discharger.publicKey(), Version: 3 as const }),
});

export const publicKey = operation({
  name: 'public_key',
  method: 'GET',
  path: '/identity/publickey',
  since: 0,
  summary: 'Get the public key of the identity provider.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  response: 'PublicKeyResponse',
  handle: async ({ discharger }) => ({ PublicKey: await discharger.publicKey() }),
});
