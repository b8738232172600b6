// Issues serials to devices, at the path of the device service and at the older path.
import { mediaType, stream } from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { anyone } from '#access/access-rules.ts';
import { readBody } from '#http/request/body.ts';
import { OperationResponse, operation, type OperationCall } from '#http/operation.ts';
import { refuseOtherService } from './other-service.ts';
import { issueSerial } from './issue-serial.ts';

/** Room for a request with the former model and serial that a device can enclose. */
const bodyLimit = 256 * 1024;

const declaration = {
  method: 'POST',
  since: 0,
  access: anyone,
  consumes: 'application/x.ubuntu.assertion',
  refuses: ['forbidden', 'resource-not-found', 'conflict', 'sealed'],
  produces: [mediaType],
  prefixed: false,
  errors: 'device',

  async handle(call: OperationCall<string, object, undefined, undefined>) {
    const { request, records, config } = call;
    refuseOtherService(request.headers, config);
    const { 'api-key': apiKey, 'snap-device-capabilities': capabilities = '' } = request.headers;
    const serial = await issueSerial(await readBody(request, bodyLimit), String(apiKey ?? ''), call);
    // Devices that do not announce support for a stream get only the serial.
    const takesStream = String(capabilities).split(' ').includes('serial-stream');
    const sent = takesStream ? await withPrerequisites(serial, (names) => records.assertions.listOf(names)) : [serial];
    return new OperationResponse({ headers: { 'content-type': mediaType }, body: stream(sent) });
  },
} as const;

export const deviceSerial = operation({
  ...declaration,
  name: 'device_serial',
  path: '/device-service/serial',
  summary: 'Issue the serial of a device, by the serial policy of its model.',
});

export const deviceSerialOfOld = operation({
  ...declaration,
  name: 'device_serial_of_old',
  path: '/api/v1/snaps/auth/devices',
  summary: 'Issue the serial of a device, at the default address of devices.',
});
