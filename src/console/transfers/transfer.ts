// The page of one transfer: its plan or its receipt, and the forms to accept it, discard it, or withdraw its releases.
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferReport, TransferDesk } from '#http/transfer-desk.ts';
import type { PlanLine } from '#acts/transfers/plan-types.ts';
import { computeProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { numberIn, placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { withQuery } from '../parts/address.ts';
import { formOf } from '../parts/form.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { notice } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, distance, time } from '../parts/values.ts';
import { withMessage } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { addressOfProposal, stateBadge } from '../approvals/proposal-parts.ts';
import { findBlockedPackages, renderExclusionForm, parseExclusions, formatExclusions } from './exclusions.ts';
import { addressOfTransfer, transferBadge } from './transfer-parts.ts';

export const consoleTransfer = screen({
  name: 'console_transfer',
  path: '/console/carry/transfers/:transfer',
  summary: 'Show the preview of a transfer or its receipt, and its approvals.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsoleTransferQuery',
  refuses: ['conflict'],

  async show({ params, query, principal, browsing, records, transfers, now }) {
    const transfer = await transfers.find(params.transfer);
    const moment = now();
    const [from] = placeOf(query, ['0'] as const);
    const who = await readActorLabels([transfer.receivedBy, transfer.settledBy], records);
    const typed = query.without ?? '';
    const { report, reason, seen, blocked } = await toldOf(transfer, transfers, typed);
    const choice = transfer.status === 'waiting' ? { typed, blocked } : { typed: '', blocked };
    return {
      title: `Transfer ${count(transfer.sequence)} of ${transfer.source}`,
      lead: leads[transfer.status],
      content: html`${facts([
        ['State', transferBadge(transfer)],
        [
          'Came',
          html`${time(transfer.receivedAt)}, ${distance(transfer.receivedAt, moment)}, by ${who(transfer.receivedBy)}`,
        ],
        transfer.settledAt === null
          ? undefined
          : ['Settled', html`${time(transfer.settledAt)}, by ${who(transfer.settledBy)}`],
        ['Id', html`<code>${transfer.id}</code>`],
      ])}
      ${reason === undefined ? nothing : notice('note', reason)}
      ${report === undefined ? nothing : shown(report, transfer, { from: numberIn(from), without: choice.typed })}
      ${await approvalsOf(transfer, records, timestamp(moment))}
      ${principal.storeAdministrator ? settling(browsing, transfer, { seen, ...choice }) : nothing}`,
    };
  },
});

const leads: Readonly<Record<ReceivedTransfer['status'], string>> = {
  waiting: 'This transfer waits for a decision. Its content is not visible until it is accepted.',
  accepted: 'This transfer was accepted. Its receipt is below.',
  withdrawn: 'This transfer was accepted, and its releases were rolled back later. Its revisions stay.',
  discarded: 'This transfer was discarded. It can be received again.',
};

interface TransferReportView {
  report?: TransferReport | undefined;
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

/** The maximum of entries shown per list; the command shows all. */
const maxListed = 100;

function shown(
  { sentences, changes = [], lists }: TransferReport,
  { id }: ReceivedTransfer,
  { from, without }: { from: number; without: string },
): Html {
  const next = from + pageSize;
  return html`${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    <h2>Changes</h2>
    ${
      changes.length > pageSize
        ? html`<p>
            ${count(from + 1)} to ${count(Math.min(next, changes.length))} of ${count(changes.length)}; the command
            <code>larder transfer preview ${id.slice(0, 12)} --html FILE</code> writes all of them on one page.
          </p>`
        : nothing
    }
    ${table<PlanLine>({
      caption: 'Changes, each with the authority that vouches for it',
      empty: 'The transfer changes nothing.',
      rows: changes.slice(from, next),
      columns: [
        { heading: 'Package', cell: (line) => line.package },
        { heading: 'What', cell: ({ what: object }) => object },
        { heading: 'Now', cell: ({ from: before }) => before ?? 'nothing' },
        { heading: 'Then', cell: ({ to }) => to ?? 'nothing' },
        { heading: 'Word of', cell: ({ word }) => word },
        { heading: 'Notes', cell: ({ notes }) => (notes.length === 0 ? 'none' : notes.join('; ')) },
      ],
    })}
    ${nextPage(next < changes.length ? withQuery(addressOfTransfer(id), { without, cursor: writeCursor([String(next)]) }) : undefined)}
    ${lists
      .filter(({ items }) => items.length > 0)
      .map(
        ({ heading, items }) =>
          html`<h2>${heading.replace(/:$/, '')}</h2>
            <ul>
              ${items.slice(0, maxListed).map((item) => html`<li>${item}</li>`)}
              ${items.length > maxListed ? html`<li>and ${count(items.length - maxListed)} more</li>` : nothing}
            </ul>`,
      )}`;
}

/** The maximum of open proposals that are searched for this transfer. */
const maxProposals = 500;

/** The open proposals about the transfer. After enough approvals, an administrator accepts the transfer again. */
async function approvalsOf({ id }: ReceivedTransfer, records: HandlerRecords, at: string): Promise<Html> {
  const open = await records.proposals.waiting(0, at, maxProposals);
  const about: ProposalStatus[] = [];
  for (const proposal of open)
    if (proposal.object === `transfer/${id}`) about.push(await computeProposalStatus(records, proposal, at));
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
function settling(
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
    ${blocked === undefined ? nothing : renderExclusionForm(id, { typed, blocked })}
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
