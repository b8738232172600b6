// Issues the nonce that a device signs in its session request.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { refuseBeyondRateLimit } from './rate-limits.ts';

export const deviceNonce = operation({
  name: 'device_nonce',
  method: 'POST',
  path: '/api/v1/snaps/auth/nonces',
  since: 0,
  summary: 'Issue the nonce that a device signs in its request for a session.',
  access: anyone,
  response: 'DeviceNonceResponse',
  refuses: ['too-many-requests'],
  prefixed: false,
  errors: 'snapd',
  enabledBy: 'devices.snap',

  handle(call) {
    refuseBeyondRateLimit(call);
    return { nonce: call.deviceNonces.make(call.authority.latestTime()) };
  },
});
