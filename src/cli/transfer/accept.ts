// larder transfer accept
import { lettingIn } from '#transfers/desk.ts';
import { letIn } from '#transfers/letting-in.ts';
import { shortId } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { counted } from '#domain/quantities.ts';
import { withStore } from '../frame/store.ts';
import { narrowing, withWaiting } from './looking.ts';

export const transferAccept = command({
  name: 'transfer accept',
  summary: 'Let in a transfer that waits here: all that its preview shows, or nothing.',
  description:
    'With --seen what the preview gave as its digest is held against what would be changed now, so that nothing else comes in than ' +
    'what was looked at.',
  positionals: [{ name: 'id', summary: 'The first digits of the id of the transfer.' }],
  options: {
    ...narrowing,
    seen: { type: 'string', value: 'DIGEST', summary: 'The digest that the preview showed, with --json.' },
  },
  examples: ['larder transfer accept 3f9a01 --yes', 'larder transfer accept 3f9a01 --only snap/hello'],
  confirm: {
    question: ({ positionals: { id } }) => `What the preview of ${id} shows comes in, and its releases reach devices.`,
    unattended: 'refused',
  },

  run: ({ positionals: { id: named }, options, data, world }) =>
    withStore({ data, world }, (store) =>
      withWaiting(store, named, options, async (carried) => {
        const receipt = await letIn(await lettingIn(store), { ...carried, seen: options.seen }, store.person);
        const id = shortId(carried.transfer.id);
        const { undo, ...told } = receipt;
        const left = receipt['left-out'].length === 0 ? '' : `, ${String(receipt['left-out'].length)} left out`;
        return {
          text:
            `Transfer ${id} was let in: ${counted(receipt.lines.length, 'change')}${left}. ` +
            `'larder transfer receipt ${id}' writes its receipt; ` +
            `'larder transfer withdraw ${id}' puts ${undo.length === 1 ? 'its release' : `its ${String(undo.length)} releases`} back.`,
          json: told,
        };
      }),
    ),
});
