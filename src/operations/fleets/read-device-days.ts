import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { parseDays, deviceDays } from '../packages/usage.ts';

export const readDeviceDays = operation({
  name: 'read_device_days',
  method: 'GET',
  path: '/internal/v1/devices/days',
  since: 0,
  summary: 'Count the devices that called on each of the last days while devices.remember was on.',
  access: storeAdministrator('store-view'),
  query: 'UsageQuery',
  response: 'DeviceDaysResponse',

  handle: ({ query, records, config, now }) =>
    deviceDays({ records, remembered: config.devices.remember, now: now(), days: parseDays(query) }),
});
