import { revokeSerial as act } from '#acts/devices/serials.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const revokeSerial = operation({
  name: 'revoke_serial',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial/:serial/revoke',
  since: 0,
  summary: 'Revoke the serial of a device: its session ends, and it gets no new session and no new serial.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'RevokeSerialRequest',
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, params, body, acts } = call;
    const { model_name: model, serial } = params;
    await acts.do(act, caller(call), { brandId: brand.accountId, model, serial, reason: body.reason });
    return undefined;
  },
});
