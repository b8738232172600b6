// larder transfer discard, larder transfer withdraw
import { withdrawTransfer } from '#acts/transfers/transfers.ts';
import { discard } from '#transfers/accept/desk.ts';
import { findTransfer } from '#transfers/accept/inspect.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { shortId } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { withStore } from '../frame/store.ts';

const positionals = [{ name: 'id', summary: 'The first digits of the id of the transfer.' }] as const;

export const transferDiscard = command({
  name: 'transfer discard',
  summary: 'Throw away a transfer that waits here; it may be received again.',
  positionals,
  examples: ['larder transfer discard 3f9a01'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person, directory }) => {
      const transfer = await findTransfer(records, id);
      await discard({ acts, directory }, transfer, person);
      return { text: `Transfer ${shortId(transfer.id)} waits no more.`, json: { id: transfer.id } };
    }),
});

export const transferWithdraw = command({
  name: 'transfer withdraw',
  summary: 'Put the channels back to what they held before a transfer was let in; its revisions stay.',
  description: 'All of them or none: where a channel was changed later, nothing is put back, and the channel is named.',
  positionals,
  examples: ['larder transfer withdraw 3f9a01 --yes'],
  confirm: {
    question: ({ positionals: { id } }) => `Devices get again what the channels held before ${id} was let in.`,
    unattended: 'refused',
  },

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      keepHeapSmall();
      const transfer = await findTransfer(records, id);
      const channels = await acts.do(withdrawTransfer, person, { id: transfer.id });
      return {
        text: `What ${shortId(transfer.id)} released is put back: ${formatCount(channels.length, 'release')}.`,
        json: { id: transfer.id, channels },
      };
    }),
});
