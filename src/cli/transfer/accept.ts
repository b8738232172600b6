// larder transfer accept
import { rmSync } from 'node:fs';

import { acceptTransfer } from '#acts/transfer-accept.ts';
import type { Receipt } from '#acts/transfers.ts';
import { digestOf } from '#transfers/look.ts';
import { piecesOf } from '#transfers/intake.ts';
import { siteOf } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { narrowing, waiting } from './looking.ts';
import { shortId } from './parts.ts';

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
    withStore({ data, world }, async (store) => {
      const carried = await waiting(store, named, options);
      const receipt = await letIn(store, { ...carried, digest: options.seen });
      const id = shortId(carried.transfer.id);
      const { undo, ...told } = receipt;
      const left = receipt['left-out'].length === 0 ? '' : `, ${String(receipt['left-out'].length)} left out`;
      return {
        text:
          `Transfer ${id} was let in: ${String(receipt.lines.length)} changes${left}. ` +
          `'larder transfer receipt ${id}' writes its receipt; ` +
          `'larder transfer withdraw ${id}' puts the ${String(undo.length)} releases back.`,
        json: told,
      };
    }),
});

/** Lets in what was looked at; where nobody looked, what there is. */
export async function letIn(
  { records, acts, person, siteKey, directory, config }: OpenStore,
  {
    transfer,
    statement,
    believed,
    digest,
    narrowed,
  }: Awaited<ReturnType<typeof waiting>> & { digest: string | undefined },
): Promise<Receipt> {
  const site = (await siteOf(records, siteKey))?.name;
  const here = { site, labels: config.site };
  const accepted = { id: transfer.id, statement, ...here, believed, ...narrowed, seen: digest, digestOf };
  const receipt = await acts.do(acceptTransfer, person, accepted);
  rmSync(piecesOf(directory, transfer.id), { recursive: true, force: true });
  return receipt;
}
