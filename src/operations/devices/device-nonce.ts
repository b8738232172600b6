// Where a device begins to ask for a session.
import { anyone } from '#api/access.ts';
import { operation } from '#api/operation.ts';

export const deviceNonce = operation({
  name: 'device_nonce',
  method: 'POST',
  path: '/api/v1/snaps/auth/nonces',
  since: 0,
  summary: 'Give a device the nonce to sign in its request for a session.',
  access: anyone,
  response: 'DeviceNonceResponse',
  prefixed: false,
  errors: 'snapd',
  enabledBy: 'devices.snap',
  handle: ({ deviceNonces, authority }) => ({ nonce: deviceNonces.make(authority.latestTime()) }),
});
