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
    'Write the signed receipt of a transfer that was let in: what came, who let it in, what was left out and why.',
  description: 'It is a DSSE envelope (JSON), signed with the key of this site, so that this site must have a name.',
  positionals: [
    { name: 'id', summary: 'The first digits of the id of the transfer.' },
    { name: 'file', summary: 'The file to write, which must not be there yet.' },
  ],
  options: {
    html: { type: 'boolean', summary: 'Write it as one page for people, which is not signed.' },
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
        const written = await writeReceipt(store, { prefix: call.positionals.id, file, html: call.options.html });
        const { id, ...inFile } = written;
        return { text: `The receipt of ${shortId(id)} is in ${file}.`, json: { file, ...inFile } };
      },
      { writesOutside: true },
    ),
});
