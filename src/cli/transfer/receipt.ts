// larder transfer receipt
import { resolve } from 'node:path';

import { letOutReceipt, type Receipt } from '#acts/transfers.ts';
import { Refusal } from '#domain/refusal.ts';
import { transferOf } from '#transfers/look.ts';
import { receiptReport } from '#transfers/report.ts';
import { signedReceipt } from '#transfers/receipts.ts';
import { keepHeapSmall } from '#src/small-heap.ts';
import { ownSite, shortId } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside.ts';
import { withStore } from '../frame/store.ts';
import { pageOf } from './report.ts';

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
      async ({ records, acts, person, config, siteKey, asCaller }) => {
        keepHeapSmall();
        const site = await ownSite(records, siteKey);
        const { id, receipt } = await transferOf(records, call.positionals.id);
        if (receipt === null)
          throw new Refusal('conflict', `Transfer ${shortId(id)} was not let in, so there is no receipt.`);
        const file = resolve(call.positionals.file);
        const auditHead = (await records.audit.head()) ?? null;
        const told = { site, auditHead };
        const said = JSON.parse(receipt) as Receipt;
        const text = call.options.html ? pageOf(receiptReport(said, told)) : signedReceipt(said, told);
        // Before it can be carried away it is known that it leaves.
        const written = await writeNew(file, asCaller, async (append) => {
          await append(text);
          await acts.do(letOutReceipt, person, { id, label: config.site.label ?? null, text });
        });
        return { text: `The receipt of ${shortId(id)} is in ${file}.`, json: { file, ...written } };
      },
      { writesOutside: true },
    ),
});
