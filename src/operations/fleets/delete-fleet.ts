import { deleteFleet as act } from '#acts/fleets/fleets.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const deleteFleet = operation({
  name: 'delete_fleet',
  method: 'DELETE',
  path: '/internal/v1/fleets/:fleet',
  since: 0,
  summary: 'Delete a fleet that changes no channel, hides no snap and has no refresh window.',
  access: storeAdministrator('store-manage'),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    await call.acts.do(act, caller(call), { fleet: call.params.fleet });
    return undefined;
  },
});
