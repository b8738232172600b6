// The receipt of an accepted transfer: a page to print and sign, and the signed file.
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import { OperationResponse } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferReport } from '#http/transfer-desk.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import { formOf } from '../parts/form.ts';
import { qrDrawing } from '../parts/qr-drawing.ts';
import { facts } from '../parts/table.ts';
import { count, exactTime, formatCount, withValues } from '../parts/values.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOfTransfer } from './transfer-parts.ts';

const path = '/console/carry/transfers/:transfer/receipt';

/** The maximum of packages and of approvals on the page, so that it prints on one sheet. The file has all. */
const maxPackages = 16;
const maxApprovals = 6;

export const consoleReceipt = screen({
  name: 'console_receipt',
  path,
  summary: 'Show the receipt of an accepted transfer on one page, to print and to sign.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ params, principal, browsing, records, transfers }) {
    const transfer = await transfers.find(params.transfer);
    const { id, source, sequence, settledAt, settledBy } = transfer;
    const report = await transfers.receipt(transfer);
    if (report === undefined || settledAt === null)
      throw new Refusal(
        'resource-not-found',
        'This transfer was not accepted, or this site has no name, so there is no receipt.',
      );
    const who = await readActorLabels([settledBy], records);
    return {
      title: `Receipt of transfer ${count(sequence)} of ${source}`,
      content: html`<div class="receipt">
          <div>
            ${facts([
              ['From', source],
              ['Number', count(sequence)],
              [
                transfer.status === 'withdrawn' ? 'Releases rolled back' : 'Accepted',
                html`${exactTime(settledAt)}, by ${who(settledBy)}`,
              ],
              ['Id', html`<code>${id}</code>`],
            ])}
          </div>
          ${qrDrawing(id, 'The id of the transfer as a QR code')}
        </div>
        ${evidenceOf(report)} ${changesOf(report)} ${approvalsOf(report)}
        <dl class="to-sign">
          <div><dt>Name</dt></div>
          <div><dt>Date</dt></div>
          <div><dt>Signature</dt></div>
        </dl>
        <div hx-boost="false" class="screen-only">
          <h2>Keep it</h2>
          <p>Print this page for the file of the transfer. The signed file is for the source and for programs.</p>
          ${principal.storeAdministrator ? formOf(browsing, `${addressOfTransfer(id)}/receipt`, html`<button>Download the signed receipt</button>`) : nothing}
        </div>
        <p class="screen-only"><a href="${addressOfTransfer(id)}">Back to the transfer</a></p>`,
    };
  },
});

/** The keys, the label and the end of the audit log: all sentences but the first, which the facts have, and the last, which is about files. */
const evidenceOf = ({ sentences }: TransferReport): Html =>
  html`<p>${withValues(sentences.slice(1, -1).join(' '))}</p>`;

function changesOf({ changes = [] }: TransferReport): Html {
  const packages = [...Map.groupBy(changes, (change) => change.package)];
  return html`<h2>${formatCount(changes.length, 'change')} of ${formatCount(packages.length, 'package')}</h2>
    <ul>
      ${packages.slice(0, maxPackages).map(([name, lines]) => html`<li>${name}: ${formatCount(lines.length, 'change')}</li>`)}
      ${packages.length > maxPackages ? html`<li>and ${formatCount(packages.length - maxPackages, 'more package')}</li>` : nothing}
    </ul>`;
}

const approvalsHeading = 'Approved by:';

function approvalsOf({ lists }: TransferReport): Html {
  const items = lists.find(({ heading }) => heading === approvalsHeading)?.items ?? [];
  return items.length === 0
    ? nothing
    : html`<h2>Approved by</h2>
        <ul>
          ${items.slice(0, maxApprovals).map((item) => html`<li>${withValues(item)}</li>`)}
          ${items.length > maxApprovals ? html`<li>and ${count(items.length - maxApprovals)} more</li>` : nothing}
        </ul>`;
}

const envelopeType = 'application/octet-stream';

export const consoleExportReceipt = formHandler({
  name: 'console_export_receipt',
  path,
  summary: 'Download the signed receipt of an accepted transfer. The audit log records the export.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',
  file: envelopeType,
  refuses: ['conflict'],

  async perform(call) {
    const { id, text } = await call.transfers.exportReceipt(call.params.transfer, caller(call));
    return new OperationResponse({
      headers: {
        'content-type': envelopeType,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...attachment(`receipt-${id.slice(0, 12)}.json`),
      },
      body: text,
    });
  },
});
