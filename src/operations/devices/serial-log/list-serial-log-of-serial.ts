import { noModel } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentSerialLogEntry } from './present.ts';

export const listSerialLogOfSerial = operation({
  name: 'list_serial_log_of_serial',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial/:serial/serial-log',
  since: 0,
  summary: 'List the log entries of a serial, with the request and the response if requested.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'SerialLogQuery',
  response: 'SerialLogResponse',

  async handle({ brand, params, query, records }) {
    const { model_name: name, serial } = params;
    if ((await records.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
    const entry = await records.serialLog.find(brand.accountId, name, serial);
    return { items: entry === undefined ? [] : [presentSerialLogEntry(entry, query)], 'next-cursor': null };
  },
});
