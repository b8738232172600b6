// Issues the id that a device signs in its serial request, at the path of the device service and at the older path.
import type { IncomingMessage } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { refuseOtherService } from './other-service.ts';

const declaration = {
  method: 'POST',
  since: 0,
  access: anyone,
  response: 'DeviceRequestIdResponse',
  prefixed: false,
  errors: 'device',
  refuses: ['forbidden'],

  handle({
    request,
    config,
    requestIds,
    now,
  }: Pick<Services, 'config' | 'requestIds' | 'now'> & { request: IncomingMessage }) {
    refuseOtherService(request.headers, config);
    return { 'request-id': requestIds.make(now()) };
  },
} as const;

export const deviceRequestId = operation({
  ...declaration,
  name: 'device_request_id',
  path: '/device-service/request-id',
  summary: 'Issue the id that a device signs in its request for a serial.',
});

export const deviceRequestIdOfOld = operation({
  ...declaration,
  name: 'device_request_id_of_old',
  path: '/api/v1/snaps/auth/request-id',
  summary: 'Issue the id that a device signs in its request for a serial, at the default address of devices.',
});
