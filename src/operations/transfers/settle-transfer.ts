import { gateErrorCodes } from '#acts/gate.ts';
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const readTransfer = operation({
  name: 'read_transfer',
  method: 'GET',
  path: '/internal/v1/transfers/:transfer',
  since: 0,
  summary: 'Preview the changes of a received transfer, with the authority that vouches for each, and its problems.',
  access: overseer('transfer-approver', 'auditor'),
  response: 'TransferPreview',
  refuses: ['conflict'],

  handle: async ({ params, transfers }) => (await transfers.preview(params.transfer)).preview,
});

export const acceptTransfer = operation({
  name: 'accept_transfer',
  method: 'POST',
  path: '/internal/v1/transfers/:transfer/accept',
  since: 0,
  summary: 'Accept a waiting transfer exactly as previewed: all changes or none.',
  access: storeAdministrator('store-manage'),
  body: 'AcceptTransferRequest',
  response: 'SettledTransfer',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { params, body, transfers } = call;
    const receipt = await transfers.accept(params.transfer, body, caller(call));
    const { transfer: id, lines, 'left-out': left } = receipt;
    return { id, status: 'accepted' as const, changes: lines.length, 'left-out': left.length };
  },
});

export const withdrawTransfer = operation({
  name: 'withdraw_transfer',
  method: 'POST',
  path: '/internal/v1/transfers/:transfer/withdraw',
  since: 0,
  summary: 'Roll back the releases and fleets of an accepted transfer. Its revisions stay.',
  access: storeAdministrator('store-manage'),
  response: 'SettledTransfer',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { id, channels, fleets } = await call.transfers.withdraw(call.params.transfer, caller(call));
    return { id, status: 'withdrawn' as const, changes: channels.length + fleets.length, 'left-out': 0 };
  },
});

export const discardTransfer = operation({
  name: 'discard_transfer',
  method: 'POST',
  path: '/internal/v1/transfers/:transfer/discard',
  since: 0,
  summary: 'Discard a waiting transfer. It can be received again.',
  access: storeAdministrator('store-manage'),
  response: 'SettledTransfer',
  refuses: ['conflict'],

  async handle(call) {
    const id = await call.transfers.discard(call.params.transfer, caller(call));
    return { id, status: 'discarded' as const, changes: 0, 'left-out': 0 };
  },
});
