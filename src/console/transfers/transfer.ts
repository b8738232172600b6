// The page of one transfer: its plan or its receipt, and the forms to accept it, discard it, or withdraw its releases.
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferReport, TransferDesk } from '#http/transfer-desk.ts';
import type { TransferPreview } from '#contract/wire.ts';
import { computeProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { numberIn, placeOf } from '#operations/page.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { withQuery } from '../parts/address.ts';
import { formOf } from '../parts/form.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { notice } from '../parts/notice.ts';
import { pageSize, table } from '../parts/table.ts';
import { count } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOfProposal, stateBadge } from '../approvals/proposal-parts.ts';
import {
  describeBlocked,
  findBlockedPackages,
  formatExclusions,
  parseExclusions,
  splitExclusions,
} from './exclusions.ts';
import { renderReport } from './report-lists.ts';
import { renderContents } from './transfer-contents.ts';
import { renderStrip } from './transfer-strip.ts';
import { addressOfTransfer } from './transfer-parts.ts';

const withMessage = declareMessages({
  'transfer-accepted': 'The transfer is accepted.',
  'transfer-withdrawn': 'The releases are rolled back. The channels have their previous revisions again.',
  'transfer-discarded': 'The transfer is discarded. It can be received again.',
  'transfer-proposed':
    'The change is proposed and waits for the approvals below. When it has them, repeat the same change.',
});

export const consoleTransfer = screen({
  name: 'console_transfer',
  path: '/console/carry/transfers/:transfer',
  summary: 'Show the preview of a transfer or its receipt, and its approvals.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsoleTransferQuery',
  repeated: ['without'],
  refuses: ['conflict'],

  async show({ params, query, principal, browsing, records, transfers, now }) {
    const transfer = await transfers.find(params.transfer);
    const [from] = placeOf(query, ['0'] as const);
    const who = await readActorLabels([transfer.receivedBy, transfer.settledBy], records);
    const isWaiting = transfer.status === 'waiting';
    const typed = isWaiting ? (query.without ?? '').trim() : '';
    const { report, preview, reason, seen, blocked } = await toldOf(transfer, transfers, typed);
    const proposals = await proposalsAbout(transfer, records, timestamp(now()));
    const canChoose = isWaiting && principal.storeAdministrator && blocked !== undefined;
    return {
      title: `Transfer ${count(transfer.sequence)} of ${transfer.source}`,
      lead: leads[transfer.status],
      content: html`${renderStrip({ transfer, preview, proposals, who })}
      ${transfer.status === 'accepted' || transfer.status === 'withdrawn' ? receiptLink(transfer, reason) : nothing}
      ${reason === undefined ? nothing : notice('note', reason)}
      ${
        report === undefined && !canChoose
          ? nothing
          : html`<h2>Changes</h2>
              ${renderContents({
                id: transfer.id,
                changes: report?.changes ?? [],
                preview,
                without: canChoose ? splitExclusions(typed) : undefined,
                from: numberIn(from),
              })}`
      }
      ${report === undefined ? nothing : renderReport(report)} ${await approvalsOf(proposals, records)}
      ${principal.storeAdministrator ? renderDecisionForms(browsing, transfer, { seen, blocked, typed }) : nothing}`,
    };
  },
});

/** The link to the receipt; the site has one if it has a name. */
const receiptLink = ({ id }: ReceivedTransfer, reason: string | undefined): Html =>
  reason === undefined
    ? html`<p><a class="button" href="${addressOfTransfer(id)}/receipt">Receipt to print or download</a></p>`
    : nothing;

const leads: Readonly<Record<ReceivedTransfer['status'], string>> = {
  waiting: 'This transfer waits for a decision. Its content is not visible until it is accepted.',
  accepted: 'This transfer was accepted. Its receipt is below.',
  withdrawn: 'This transfer was accepted, and its releases were rolled back later. Its revisions stay.',
  discarded: 'This transfer was discarded. It can be received again.',
};

interface TransferReportView {
  report?: TransferReport | undefined;
  preview?: TransferPreview | undefined;
  /** Why there is no preview. */
  reason?: string;
  /** The digest of the changes, if the transfer can be accepted. */
  seen?: string;
  /** The packages that cannot be accepted. Absent if no choice of packages can help. */
  blocked?: readonly string[] | undefined;
}

async function toldOf(transfer: ReceivedTransfer, transfers: TransferDesk, typed: string): Promise<TransferReportView> {
  if (transfer.status === 'discarded') return {};
  if (transfer.status !== 'waiting') {
    const report = await transfers.receipt(transfer);
    return report === undefined ? { reason: 'This site has no name yet, so it signs no receipts.' } : { report };
  }
  try {
    const { report, preview } = await transfers.preview(transfer.id, parseExclusions(typed));
    return {
      report,
      preview,
      blocked: findBlockedPackages(preview),
      ...(preview.problems.length === 0 && { seen: preview.digest }),
    };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    // A wrong glob is corrected in the field where it was typed.
    if (typed !== '') return { reason: refusal.message, blocked: [] };
    if (refusal.code === 'conflict') return { reason: refusal.message };
    throw refusal;
  }
}

/** The maximum of open proposals that are searched for this transfer. */
const maxProposals = 500;

/** The open proposals about the transfer. */
async function proposalsAbout(
  { id }: ReceivedTransfer,
  records: HandlerRecords,
  at: string,
): Promise<ProposalStatus[]> {
  const open = await records.proposals.waiting(0, at, maxProposals);
  const about: ProposalStatus[] = [];
  for (const proposal of open)
    if (proposal.object === `transfer/${id}`) about.push(await computeProposalStatus(records, proposal, at));
  return about;
}

/** The proposals. After enough approvals, an administrator accepts the transfer again. */
async function approvalsOf(about: readonly ProposalStatus[], records: HandlerRecords): Promise<Html> {
  if (about.length === 0) return nothing;
  const who = await readActorLabels(
    about.map(({ proposal }) => proposal.actor),
    records,
  );
  return html`<h2>Approvals</h2>
    ${table<ProposalStatus>({
      caption: 'Proposals for this transfer',
      empty: '',
      rows: about.slice(0, pageSize),
      columns: [
        {
          heading: 'Proposal',
          cell: ({ proposal: { number, act } }) =>
            html`<a href="${addressOfProposal(number)}">${number}: ${act.replaceAll('_', ' ')}</a>`,
        },
        { heading: 'By', cell: ({ proposal }) => who(proposal.actor) },
        { heading: 'State', cell: (state) => stateBadge(state) },
        {
          heading: 'Approved by',
          cell: ({ approvals }) =>
            approvals.length === 0 ? 'nobody yet' : approvals.map(({ username }) => username).join(', '),
        },
        {
          heading: 'Who may',
          cell: ({ mayApprove }) =>
            mayApprove.length === 0
              ? 'nobody'
              : mayApprove
                  .slice(0, 20)
                  .map(({ username }) => username)
                  .join(', '),
        },
      ],
    })}
    <p>
      When the proposal has enough approvals, the account that made it repeats the same request. If packages were left
      out, leave out the same packages again.
    </p>`;
}

interface TransferChoice {
  seen: string | undefined;
  blocked: readonly string[] | undefined;
  /** The packages to leave out, as typed. */
  typed: string;
}

/** The forms for a store administrator to accept or discard a transfer. */
function renderDecisionForms(
  browsing: Browsing,
  { id, status }: ReceivedTransfer,
  { seen, blocked, typed }: TransferChoice,
): Html {
  const address = addressOfTransfer(id);
  if (status === 'accepted') {
    return html`<h2>Roll back releases</h2>
      ${formOf(
        browsing,
        `${address}/withdraw`,
        html`<p>
            The channels get the revisions from before this transfer. The revisions of the transfer stay in the store.
          </p>
          <label class="tick"
            ><input type="checkbox" name="sure" value="yes" required /> I have checked the releases of this
            transfer.</label
          >
          <button class="grave">Roll back releases</button>`,
      )}`;
  }
  if (status !== 'waiting') return nothing;
  return html`<h2>Your decision</h2>
    ${
      seen === undefined
        ? html`<p>The transfer cannot be accepted as it is. The reasons are listed above.</p>`
        : formOf(
            browsing,
            `${address}/accept`,
            html`<input type="hidden" name="seen" value="${seen}" />
              <input type="hidden" name="without" value="${typed}" />
              ${typed === '' ? nothing : html`<p>These packages are left out: ${formatExclusions(parseExclusions(typed))}.</p>`}
              <p>
                The store accepts all changes shown above, and devices get its releases. If the approval policy requires
                approvals, the transfer waits for them.
              </p>
              <button>Accept</button>`,
          )
    }
    ${blocked === undefined ? nothing : describeBlocked(id, { typed, blocked })}
    <h2>Discard</h2>
    ${formOf(
      browsing,
      `${address}/discard`,
      html`<p>A discarded transfer can be received again.</p>
        <button class="grave">Discard</button>`,
    )}`;
}

const settles = {
  access: storeAdministrator('store-manage'),
  refuses: ['conflict', 'approval-required', 'too-many-requests'],
} as const;

export const consoleAcceptTransfer = formHandler({
  ...settles,
  name: 'console_accept_transfer',
  path: '/console/carry/transfers/:transfer/accept',
  summary: 'Accept a waiting transfer exactly as previewed.',
  body: 'ConsoleAcceptTransfer',

  async perform(call) {
    const { params, body, transfers } = call;
    const { id } = await transfers.find(params.transfer);
    const without = parseExclusions(body.without);
    return orProposed(
      id,
      async () => {
        await transfers.accept(id, { seen: body.seen, without }, caller(call));
        return 'transfer-accepted';
      },
      formatExclusions(without),
    );
  },
});

export const consoleWithdrawTransfer = formHandler({
  ...settles,
  name: 'console_withdraw_transfer',
  path: '/console/carry/transfers/:transfer/withdraw',
  summary: 'Roll back the releases of an accepted transfer.',
  body: 'ConsoleSure',

  async perform(call) {
    const { params, transfers } = call;
    const { id } = await transfers.find(params.transfer);
    return orProposed(id, async () => {
      await transfers.withdraw(id, caller(call));
      return 'transfer-withdrawn';
    });
  },
});

export const consoleDiscardTransfer = formHandler({
  ...settles,
  name: 'console_discard_transfer',
  path: '/console/carry/transfers/:transfer/discard',
  summary: 'Discard a waiting transfer.',
  body: 'ConsoleForm',

  async perform(call) {
    const id = await call.transfers.discard(call.params.transfer, caller(call));
    return withMessage(addressOfTransfer(id), 'transfer-discarded');
  },
});

/** Settles a transfer. If that waits for approvals, the page shows the proposal, and the same packages stay left out of the preview. */
async function orProposed(
  id: string,
  settle: () => Promise<'transfer-accepted' | 'transfer-withdrawn'>,
  without = '',
): Promise<string> {
  try {
    return withMessage(addressOfTransfer(id), await settle());
  } catch (refusal) {
    if (refusal instanceof Refusal && refusal.code === 'approval-required') {
      return withMessage(withQuery(addressOfTransfer(id), { without }), 'transfer-proposed');
    }
    throw refusal;
  }
}
