// Answers the poll for remote management messages. This store has none.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

export const deviceMessages = operation({
  name: 'device_messages',
  method: 'POST',
  path: '/v2/messages',
  since: 0,
  summary: 'Return an empty list of messages to a device. The request body is ignored.',
  access: anyone,
  body: 'DeviceMessagesRequest',
  response: 'DeviceMessagesResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  handle: () => ({ messages: [], 'total-pending-messages': 0 }),
});
