// larder transfer receipt
import { resolve } from 'node:path';

import type { PlanLine, PlanProblem } from '#acts/transfer-planning.ts';
import { letOutReceipt, type Receipt } from '#acts/transfers.ts';
import { Refusal } from '#domain/refusal.ts';
import { labelText } from '#domain/site-label.ts';
import { transferOf } from '#transfers/look.ts';
import type { Approval } from '#records/proposals.ts';
import { receiptTold, signedReceipt } from '#transfers/receipts.ts';
import { fingerprintOf, fingerprintOfId, ownSite } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside.ts';
import { withStore } from '../frame/store.ts';
import { shortId } from './parts.ts';
import { pageOf, type Report } from './report.ts';

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
        const site = await ownSite(records, siteKey);
        const { id, receipt } = await transferOf(records, call.positionals.id);
        if (receipt === null)
          throw new Refusal('conflict', `Transfer ${shortId(id)} was not let in, so there is no receipt.`);
        const file = resolve(call.positionals.file);
        const auditHead = (await records.audit.head()) ?? null;
        const told = { site, auditHead };
        const said = JSON.parse(receipt) as Receipt;
        const text = call.options.html ? pageOf(reportOf(said, told)) : signedReceipt(said, told);
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

/** What the signed receipt says, for a person. */
function reportOf(receipt: Receipt, about: Parameters<typeof receiptTold>[1]): Report {
  const told = receiptTold(receipt, about);
  const head = told['audit-head'];
  const leftOut = told['left-out'] as PlanProblem[];
  const approvals = told.approvals as Approval[];
  return {
    title: `Receipt of transfer ${shortId(told.transfer)}, number ${String(told.sequence)} of ${told.source}`,
    said: [
      `${told.site} let it in at ${told['accepted-at']}, by ${told['accepted-by']}. Its id is ${told.transfer}.`,
      `The key of ${told.site} has the fingerprint ${fingerprintOf([about.site.seed.publicKey]).join(', ')}.`,
      `It had ${labelText(told.label)}.`,
      ...(told.expired === undefined ? [] : [`It was good until ${told.expired}, and was let in later than that.`]),
      ...(told.media.length === 0 ? [] : [`It came on ${told.media.join(', ')}.`]),
      ...(told.automatic === undefined ? [] : [`Nobody was asked. ${told.automatic}`]),
      told.unsigned === true
        ? 'Nobody had signed it.'
        : `It was signed with ${told.signatures.map(({ keyid }) => fingerprintOfId(keyid)).join(', ')}.`,
      ...(head === null ? [] : [`The audit log of ${told.site} ended with entry ${String(head.seq)}, ${head.hash}.`]),
      'This page is for people; what is signed is the receipt without --html.',
    ],
    changes: [...told.lines] as PlanLine[],
    lists: [
      { heading: 'Left out:', items: leftOut.map(({ what, why }) => `${what}: ${why}`) },
      {
        heading: 'Approved by:',
        items: approvals.map(
          ({ displayName, username, accountId, at }) => `${displayName} (${username}, ${accountId}) at ${at}`,
        ),
      },
      {
        heading: 'Whom the policy asked then:',
        items: Object.entries(told.policy).map(([what, rule]) => `${what}: ${rule}`),
      },
      {
        heading: 'Whom this site believed then:',
        items: told.sources.map(
          ({ name, keys, threshold, packages, 'may-release': mayRelease }) =>
            `${name}: ${String(threshold)} of the keys ${fingerprintOf(keys).join(', ')}; ${packages.join(', ')}${mayRelease ? '' : ', and no releases'}`,
        ),
      },
    ],
  };
}
