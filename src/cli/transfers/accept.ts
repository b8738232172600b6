// larder transfer accept
import { resolve } from 'node:path';

import type { TransferSelection } from '#acts/transfers/plan-types.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import { acceptanceContextOf } from '#transfers/accept/desk.ts';
import { acceptReceivedTransfer } from '#transfers/accept/acceptance.ts';
import { ownSite, shortId } from '#transfers/site.ts';
import { command, extendAnswer, type CommandResult } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { siteKeysOf } from '../keys/find-keys.ts';
import { parseSelection, selectionOptions, withStagedTransfer } from './staged-transfer.ts';
import { writeReceipt } from './receipt-file.ts';
import { newFileAt } from './make/writing-options.ts';

export const transferAccept = command({
  name: 'transfer accept',
  summary: 'Accept a transfer that waits here: everything that its preview shows, or nothing.',
  description:
    'With --seen, the digest of the preview is compared with the changes that would be made now, so that only ' +
    'previewed changes are accepted.',
  positionals: [{ name: 'id', summary: 'The first digits of the id of the transfer.' }],
  options: {
    ...selectionOptions,
    seen: { type: 'string', value: 'DIGEST', summary: 'The digest that the preview printed with --json.' },
    receipt: {
      type: 'string',
      value: 'FILE',
      summary: "Write the signed receipt to this new file, like 'larder transfer receipt'.",
    },
  },
  examples: [
    'larder transfer accept 3f9a01 --yes',
    'larder transfer accept 3f9a01 --only snap/hello',
    'larder transfer accept 3f9a01 --yes --receipt ./receipt-3f9a01.json',
  ],
  confirm: {
    question: ({ positionals: { id } }) =>
      `What the preview of ${id} shows is accepted, and its releases reach devices.`,
    unattended: 'refused',
  },

  run: ({ positionals: { id: idPrefix }, options, data, world }) => {
    // Check the receipt's file before anything is accepted.
    const file = options.receipt === undefined ? undefined : newFileAt(resolve(options.receipt));
    return withStore(
      { data, world },
      async (store) => {
        if (file !== undefined) await ownSite(store.records, siteKeysOf(store, world));
        const { answer, id } = await acceptByIdPrefix(store, idPrefix, {
          ...parseSelection(options),
          seen: options.seen,
        });
        if (file === undefined) return answer;
        const written = await writeReceipt(store, { prefix: id, file, html: false }, world);
        const receipt = { file, sha256: written.sha256, bytes: written.bytes };
        return extendAnswer(answer, `Its receipt is in ${file}.`, { receipt });
      },
      { writesOutside: file !== undefined },
    );
  },
});

async function acceptByIdPrefix(
  store: OpenStore,
  idPrefix: string,
  { seen, ...selection }: TransferSelection & { seen: string | undefined },
): Promise<{ answer: CommandResult; id: string }> {
  let id = '';
  const answer = await withStagedTransfer(store, idPrefix, async (carried) => {
    const receipt = await acceptReceivedTransfer(
      await acceptanceContextOf(store),
      { ...carried, ...selection, seen },
      store.person,
    );
    ({ id } = carried.transfer);
    const short = shortId(id);
    const { undo, ...shownReceipt } = receipt;
    const left = receipt['left-out'].length === 0 ? '' : `, ${String(receipt['left-out'].length)} left out`;
    return {
      text:
        `Transfer ${short} was accepted: ${formatCount(receipt.lines.length, 'change')}${left}. ` +
        `'larder transfer receipt ${short}' writes its receipt${describeWithdrawal(short, undo.length, receipt.fleets)}.`,
      json: shownReceipt,
    };
  });
  return { answer, id };
}

/** What a withdrawal of the transfer would undo; empty if it released nothing. */
function describeWithdrawal(short: string, releases: number, fleets: Receipt['fleets'] = []): string {
  if (releases === 0 && fleets.length === 0) return '';
  const undone =
    releases === 0 ? 'its changes of fleets' : releases === 1 ? 'its release' : `its ${String(releases)} releases`;
  return `; 'larder transfer withdraw ${short}' undoes ${undone}`;
}
