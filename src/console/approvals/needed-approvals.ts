// The approvals that a previewed change needs, and their progress.
import { describeApprovers, type ApprovalStatus } from '#acts/gate.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { notice } from '../parts/notice.ts';
import { formatCount, time } from '../parts/values.ts';
import { addressOfProposal } from './proposal-parts.ts';

/** The needed approvals of a change, such as a `release`; empty if it needs none. */
export function renderApprovals(judged: ApprovalStatus | undefined, change: string): Html {
  if (judged === undefined) return nothing;
  const { proposal, missing } = judged;
  const approvers = describeApprovers(judged);
  if (proposal === undefined) {
    return notice(
      'note',
      `The approval policy requires ${formatCount(missing, 'approval')}. The ${change} becomes a proposal first. ${approvers}`,
    );
  }
  const link = html`<a href="${addressOfProposal(proposal.number)}">proposal ${proposal.number}</a>`;
  if (proposal.state === 'rejected') {
    return notice(
      'warn',
      html`This ${change} was rejected as ${link}: <bdi>${proposal.because}</bdi>. You can propose it again from
        ${time(proposal.endsAt)} on.`,
    );
  }
  if (missing === 0) return notice('good', html`This ${change} is approved as ${link}. You can carry it out now.`);
  return notice(
    'note',
    html`This ${change} waits as ${link} for ${formatCount(missing, 'more approval')}, until ${time(proposal.endsAt)}.
    ${approvers} After the approval, you can carry it out here.`,
  );
}

/** Whether a form may send the change now; not if a proposal waits for other approvals or was rejected. */
export const canSend = (judged: ApprovalStatus | undefined): boolean =>
  judged === undefined ||
  (judged.proposal?.state !== 'rejected' && (judged.missing === 0 || judged.proposal === undefined));
