// The page of one proposal: its changes and approvals, and a form to approve it. An approval counts only with password and one-time
// password.
import { readProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import { approveProposal, rejectProposal } from '#acts/approvals/proposals.ts';
import { account } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { approvalNamespace } from '#domain/approvals/approval-text.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { shortenLines, type ShownLine } from '#domain/approvals/shortened-lines.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import { maxSshSignatureLength } from '#domain/approvals/ssh-signature.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { logIn } from '#operations/approvals/decide-proposal.ts';
import { numberOf, proposalFor } from '#operations/approvals/read-proposal.ts';
import { numberIn, placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import { field, formOf, longField, hiddenUsernameField } from '../parts/form.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { notice } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, formatCount, distance, exactTime, time } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { findApprovalObstacle } from './pending-items.ts';
import { addressOfProposal, stateBadge } from './proposal-parts.ts';

const withMessage = declareMessages({
  'proposal-rejected': 'The proposal is rejected.',
  'proposal-fell':
    'The proposal is no longer valid, because its object has changed since then. Your approval was not recorded.',
  'proposal-approved-by-enough':
    'You approved the proposal. It has enough approvals now, and the account that proposed it can repeat the change to carry it out.',
  'proposal-approved': 'You approved the proposal. It waits for more approvals.',
});

export const consoleProposal = screen({
  name: 'console_proposal',
  path: '/console/waiting/proposals/:number',
  summary: 'Show a proposal: its changes, its approvals, and whether you may approve it.',
  access: account('store'),
  query: 'ConsolePageQuery',

  async show({ params, principal, browsing, query, records, now }) {
    const moment = now();
    const shown = await proposalFor(principal, params.number, records, timestamp(moment));
    const { proposal } = shown;
    const who = await readActorLabels([proposal.actor, proposal.endedBy], records);
    const [from] = placeOf(query, ['0'] as const);
    const obstacle = await findApprovalObstacle(shown, principal, records);
    const isOpen = shown.state === 'waits' || shown.state === 'approved';
    const mayReject = isOpen && (obstacle === undefined || proposal.actor === principal.accountId);
    return {
      title: `Proposal ${String(proposal.number)}: ${proposal.object}`,
      lead: leadOf(shown, who),
      content: html`${isOpen && obstacle !== undefined ? notice('note', obstacle) : nothing}
      ${about(shown, who, moment)} ${linesOf(shown, numberIn(from))} ${peopleOf(shown)}
      ${mayReject ? renderDecisionForm(browsing, proposal.number, obstacle === undefined) : nothing}`,
    };
  },
});

function leadOf({ state, missing, proposal }: ProposalStatus, who: (actor: string | null) => string): string {
  const { actor, endedBy, because } = proposal;
  const lines = shortenLines(proposal.lines);
  const clause = `${who(actor)} wants to make ${formatCount(lines.length, 'change')}`;
  switch (state) {
    case 'waits':
      return `${clause}, which ${lines.length === 1 ? 'waits' : 'wait'} for ${formatCount(missing, 'more approval')}.`;
    case 'approved':
      return `${clause} and has enough approvals. ${who(actor)} carries it out by repeating the same request.`;
    case 'done':
      return `${clause}. The changes were carried out.`;
    case 'rejected':
      return `${clause}. ${who(endedBy)} rejected it: ${because ?? ''}`;
    case 'fallen':
      return `${clause}. The proposal is no longer valid, because its object has changed since then.`;
    case 'expired':
      return `${clause}. It expired without enough approvals.`;
  }
}

const about = (shown: ProposalStatus, who: (actor: string | null) => string, now: Date): Html => {
  const { act, object, actor, proposedAt, endsAt, endedAt } = shown.proposal;
  return facts([
    ['State', stateBadge(shown)],
    ['Act', act],
    ['On', object],
    ['Proposed by', who(actor)],
    ['Proposed', html`${exactTime(proposedAt)}, ${distance(proposedAt, now)}`],
    endedAt === null
      ? ['Counts until', html`${exactTime(endsAt)}, ${distance(endsAt, now)}`]
      : ['Ended', html`${time(endedAt)}`],
  ]);
};

function linesOf({ proposal }: ProposalStatus, from: number): Html {
  const { number } = proposal;
  const lines = shortenLines(proposal.lines);
  const next = from + pageSize;
  return html`<h2>Changes</h2>
    ${
      lines.length > pageSize
        ? html`<p>
            ${count(from + 1)} to ${count(Math.min(next, lines.length))} of ${formatCount(lines.length, 'change')}. An
            approval covers all changes.
          </p>`
        : nothing
    }
    ${table<ShownLine>({
      caption: 'Each change, with the state before and after it',
      empty: 'No changes.',
      rows: lines.slice(from, next),
      columns: [
        { heading: 'What', cell: ({ on }) => on },
        { heading: 'Of it', cell: ({ part }) => part ?? 'all' },
        { heading: 'Now', cell: ({ from: before }) => before ?? 'nothing' },
        { heading: 'Then', cell: ({ to }) => to ?? 'nothing' },
        { heading: 'Kind', cell: ({ kinds }) => kinds.join(', ').replaceAll('_', ' ') },
      ],
    })}
    ${nextPage(next < lines.length ? `${addressOfProposal(number)}?cursor=${writeCursor([String(next)])}` : undefined)}`;
}

function peopleOf({ approvals, mayApprove, state }: ProposalStatus): Html {
  return html`<h2>Who approves</h2>
    ${table<ProposalStatus['approvals'][number]>({
      caption: 'Who has approved',
      empty: 'There are no approvals yet.',
      rows: approvals,
      columns: [
        { heading: 'Approved by', cell: ({ username, displayName }) => html`<bdi>${displayName}</bdi> (${username})` },
        { heading: 'When', cell: ({ at }) => time(at) },
        { heading: 'Signed with', cell: ({ key }) => (key === null ? 'nothing' : fingerprintOfSshKey(key)) },
      ],
    })}
    ${
      state !== 'waits' && state !== 'approved'
        ? nothing
        : html`<p>
            May still approve:
            ${
              mayApprove.length === 0
                ? 'no account.'
                : html`${mayApprove
                    .slice(0, pageSize)
                    .map(({ username, from }, at) => [
                      at === 0 ? '' : ', ',
                      username,
                      from === null ? '' : html` (counts from ${time(from)} on)`,
                    ])}.`
            }
          </p>`
    }`;
}

/** One form to approve and to reject; both ask for the credentials, because a session alone is not an approval. */
const renderDecisionForm = (browsing: Browsing, number: number, mayApprove: boolean): Html =>
  html`<h2>${mayApprove ? 'Your answer' : 'Take it back'}</h2>
    ${formOf(
      browsing,
      `${addressOfProposal(number)}/judge`,
      html`${hiddenUsernameField(browsing)}
        ${field({ name: 'password', label: 'Your password', type: 'password', maxLength: 1024, required: true, autocomplete: 'current-password' })}
        ${field({
          name: 'code',
          label: 'One-time password',
          maxLength: 32,
          required: true,
          autocomplete: 'one-time-code',
          inputMode: 'numeric',
          hint: 'The six digits that your authenticator shows now. Each code works once.',
        })}
        ${mayApprove ? signatureField(number) : nothing}
        ${field({ name: 'reason', label: mayApprove ? 'Reason, if you reject it' : 'Reason', maxLength: 1000, hint: 'One sentence for the account that proposed the change.' })}
        <div class="row">
          ${mayApprove ? html`<button name="verdict" value="approve">Approve</button>` : nothing}
          <button class="grave" name="verdict" value="reject">Reject</button>
        </div>`,
    )}`;

const signatureField = (number: number): Html =>
  longField({
    name: 'signature',
    label: 'Your signature, if the policy requires it',
    maxLength: maxSshSignatureLength,
    hint: html`<code>larder approval show ${String(number)} --for-signing FILE</code> on the host writes the text to
      sign; <code>ssh-keygen -Y sign -n ${approvalNamespace} -f KEY FILE</code> signs it on the machine that has your
      key.`,
  });

export const consoleJudgeProposal = formHandler({
  name: 'console_judge_proposal',
  path: '/console/waiting/proposals/:number/judge',
  summary: 'Approve or reject a proposal, with password and one-time password.',
  access: account('store'),
  body: 'ConsoleJudgeProposal',
  refuses: ['conflict', 'invalid-credentials', 'twofactor-required', 'twofactor-failure', 'too-many-requests'],

  async perform(call) {
    const { params, body, acts, records, now, principal } = call;
    const number = numberOf(params.number);
    await proposalFor(principal, params.number, records, timestamp(now()));
    const { password, code, verdict, reason = '', signature = '' } = body;
    if (verdict === 'reject' && reason.trim() === '') {
      throw new Refusal(
        'api-error',
        'Enter a reason for the rejection, one sentence for the account that proposed the change.',
      );
    }
    const login = await logIn(call, { password, 'one-time-password': code });
    if (verdict === 'reject') {
      await acts.do(rejectProposal, caller(call), { number, login, reason });
      return withMessage(addressOfProposal(number), 'proposal-rejected');
    }
    const signed = signature.trim() === '' ? undefined : signature;
    const { fell } = await acts.do(approveProposal, caller(call), { number, login, signature: signed });
    if (fell) return withMessage(addressOfProposal(number), 'proposal-fell');
    const { state } = await readProposalStatus(records, number, timestamp(now()));
    return withMessage(
      addressOfProposal(number),
      state === 'approved' ? 'proposal-approved-by-enough' : 'proposal-approved',
    );
  },
});
