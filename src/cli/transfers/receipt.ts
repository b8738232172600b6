// larder transfer receipt
import { resolve } from 'node:path';

import { keepHeapSmall } from '#platform/small-heap.ts';
import { shortId } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { writeReceipt } from './receipt-file.ts';

export const transferReceipt = command({
  name: 'transfer receipt',
  summary:
    'Write the signed receipt of an accepted transfer: its changes, who accepted it, and the omitted packages ' +
    'with the reasons.',
  description:
    'The receipt is a DSSE envelope (JSON), signed with the key of this site. The site needs a name for that.',
  positionals: [
    { name: 'id', summary: 'The first digits of the id of the transfer.' },
    { name: 'file', summary: 'The new file to write.' },
  ],
  options: {
    html: { type: 'boolean', summary: 'Write the receipt as one page for people, without a signature.' },
  },
  examples: [
    'larder transfer receipt 3f9a01 ./receipt-3f9a01.json',
    'larder transfer receipt 3f9a01 ./receipt.html --html',
  ],

  run: (call) =>
    withStore(
      call,
      async (store) => {
        keepHeapSmall();
        const file = resolve(call.positionals.file);
        const written = await writeReceipt(
          store,
          { prefix: call.positionals.id, file, html: call.options.html },
          call.world,
        );
        const { id, ...inFile } = written;
        return { text: `The receipt of ${shortId(id)} is in ${file}.`, json: { file, ...inFile } };
      },
      { writesOutside: true },
    ),
});
