// larder transfer discard, larder transfer withdraw
import { withdrawTransfer } from '#acts/transfers/withdraw.ts';
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
  summary: 'Discard a waiting transfer. It can be received again.',
  positionals,
  examples: ['larder transfer discard 3f9a01'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person, directory }) => {
      const transfer = await findTransfer(records, id);
      await discard({ acts, directory }, transfer, person);
      return { text: `Transfer ${shortId(transfer.id)} is discarded.`, json: { id: transfer.id } };
    }),
});

export const transferWithdraw = command({
  name: 'transfer withdraw',
  summary:
    'Withdraw an accepted transfer: restore the releases that its channels had before, and its fleets. Its revisions stay.',
  description: 'If a channel or a fleet has changed since, nothing is restored, and the error names it.',
  positionals,
  examples: ['larder transfer withdraw 3f9a01 --yes'],
  confirm: {
    question: ({ positionals: { id } }) =>
      `Devices get the revisions that the channels held before ${id} was accepted.`,
    unattended: 'refused',
  },

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      keepHeapSmall();
      const transfer = await findTransfer(records, id);
      const { channels, fleets } = await acts.do(withdrawTransfer, person, { id: transfer.id });
      const ofFleets = fleets.length === 0 ? '' : `, ${formatCount(fleets.length, 'fleet')}`;
      return {
        text: `The releases of ${shortId(transfer.id)} are withdrawn: ${formatCount(channels.length, 'release')}${ofFleets}.`,
        json: { id: transfer.id, channels, fleets },
      };
    }),
});
