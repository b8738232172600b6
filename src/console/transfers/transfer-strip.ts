// The strip above a transfer: its source, label, signatures and approvals.
import type { ProposalStatus } from '#acts/approvals/proposal-status.ts';
import type { TransferPreview } from '#contract/wire.ts';
import { html, nothing, type Html, type HtmlContent } from '#http/pages/html.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { badge } from '../parts/notice.ts';
import { identifier, time } from '../parts/values.ts';
import { transferBadge } from './transfer-parts.ts';

interface TransferStripInput {
  transfer: ReceivedTransfer;
  preview: TransferPreview | undefined;
  proposals: readonly ProposalStatus[];
  /** The name of an actor. */
  who: (actor: string | null) => string;
}

export const renderStrip = ({ transfer, preview, proposals, who }: TransferStripInput): Html =>
  html`<dl class="strip">
    ${cell('State', transferBadge(transfer))} ${cell('From', html`${transfer.source}, number ${transfer.sequence}`)}
    ${preview === undefined ? nothing : cell('Label', preview.label ?? 'none')}
    ${cell('Signed by', preview === undefined ? signedText(transfer) : signers(preview))}
    ${transfer.status === 'waiting' ? cell('Approved', approvedText(proposals)) : nothing}
    ${preview === undefined ? nothing : cell('Valid until', preview.expired ? badge('warn', 'expired') : time(preview.expires))}
    ${cell('Received', html`${time(transfer.receivedAt)}, by ${who(transfer.receivedBy)}`)}
    ${transfer.settledAt === null ? nothing : cell('Settled', html`${time(transfer.settledAt)}, by ${who(transfer.settledBy)}`)}
    ${cell('Id', identifier(transfer.id))}
  </dl>`;

const cell = (name: string, value: HtmlContent): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const signedText = ({ unsigned }: ReceivedTransfer): HtmlContent =>
  unsigned === 1 ? badge('warn', 'not signed') : 'trusted keys of the source';

/** The maximum of keys to show. */
const maxKeys = 4;

const signers = ({ unsigned, signatures, source }: TransferPreview): HtmlContent =>
  unsigned
    ? badge('warn', 'not signed')
    : signatures
        .slice(0, maxKeys)
        .map(
          (signature) =>
            html`<span
              >${identifier(signature.fingerprint)}${signature['is-of-source'] ? nothing : badge('warn', `no key of ${source}`)}</span
            >`,
        );

/** `1 of 2`, of the newest proposal to accept the transfer. */
function approvedText(proposals: readonly ProposalStatus[]): HtmlContent {
  const newest = proposals.at(-1);
  if (newest === undefined) return 'not proposed yet';
  const { approvals, missing } = newest;
  const words = `${String(approvals.length)} of ${String(approvals.length + missing)}`;
  return badge(missing === 0 ? 'good' : 'note', words);
}
