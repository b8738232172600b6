// Answers the poll for remote management messages. This store has none.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

export const deviceMessages = operation({
  name: 'device_messages',
  method: 'POST',
  path: '/v2/messages',
  since: 0,
  summary: 'Tell a device that no messages wait for it; what it says is passed over.',
  access: anyone,
  body: 'DeviceMessagesRequest',
  response: 'DeviceMessagesResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  handle: () => ({ messages: [], 'total-pending-messages': 0 }),
});
