import { noModel } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { writeCursor } from '../../cursor.ts';
import { numberBefore } from '../../page.ts';
import { presentSerialLogEntry } from './present.ts';

export const listSerialLog = operation({
  name: 'list_serial_log',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial-log',
  since: 0,
  summary: 'List the serials issued to devices of a model, newest first, page by page.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'SerialLogQuery',
  response: 'SerialLogResponse',

  async handle({ brand, params, query, records }) {
    const { model_name: name } = params;
    if ((await records.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
    const size = Number(query['page-size'] ?? '100');
    if (size > 500) throw new Refusal('api-error', 'A page holds at most 500 entries at /page-size');
    const time = {
      start: momentOf(query['start-time'], '0000-01-01T00:00:00.000Z'),
      end: momentOf(query['end-time'], '9999-12-31T23:59:59.999Z'),
    };
    const entries = await records.serialLog.list(brand.accountId, name, numberBefore(query), time, size + 1);
    const page = entries.slice(0, size);
    const last = page.at(-1);
    const hasMore = entries.length > size && last !== undefined;
    return {
      items: page.map((entry) => presentSerialLogEntry(entry, query)),
      'next-cursor': hasMore ? writeCursor([String(last.seq)]) : null,
    };
  },
});

/** Normalized to the time zone and digits of the records, so that texts can be compared. */
const momentOf = (text: string | undefined, otherwise: string): string =>
  text === undefined ? otherwise : timestamp(new Date(text));
