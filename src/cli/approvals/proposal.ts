// Formats proposals for people and for programs.
import type { ProposalStatus } from '#acts/approvals/proposal-status.ts';
import { lineText } from '#domain/approvals/approval-policy.ts';
import { shortenLines } from '#domain/approvals/shortened-lines.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import { UsageError } from '../frame/command.ts';
import { visible } from '../frame/terminal.ts';

export const proposalArgument = {
  name: 'number',
  value: 'PROPOSAL',
  summary: "The number of the proposal, as 'larder approval list' shows it.",
} as const;

export function proposalNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is not the number of a proposal`);
}

/** Maximum number of lines shown to people; programs get all. */
const linesShown = 100;

/** The state in a few words. */
export const stateText = ({ state, missing }: ProposalStatus): string =>
  state === 'waits' ? `waits for ${String(missing)} more` : state;

const signedWith = (key: string | null): string => (key === null ? '' : `, signed with ${fingerprintOfSshKey(key)}`);

export function proposalText(shown: ProposalStatus): string {
  const { proposal, approvals, mayApprove } = shown;
  const { number, act, object, actor, lines, proposedAt, endsAt, endedAt, endedBy, because } = proposal;
  const ended = endedAt === null ? '' : ` at ${endedAt} by ${endedBy ?? ''}${because === null ? '' : `: ${because}`}`;
  const changes = shortenLines(lines);
  const rest = changes.length - linesShown;
  const more = rest > 0 ? [`  and ${String(rest)} more; --json shows all`] : [];
  const approvers = mayApprove.map(
    ({ username, from }) => `  ${username}${from === null ? '' : ` (counts from ${from} on: the account was changed)`}`,
  );
  return [
    `Proposal ${String(number)}: ${stateText(shown)}${ended}`,
    `${act} on ${object}, by ${actor}, ${proposedAt}; counts until ${endsAt}`,
    'Changes:',
    ...changes.slice(0, linesShown).map((line) => `  ${lineText(line)}`),
    ...more,
    approvals.length === 0 ? 'No approvals yet.' : 'Approved by:',
    ...approvals.map(({ username, at, key }) => `  ${username}, ${at}${signedWith(key)}`),
    ...(approvers.length === 0 ? [] : ['Who may approve:', ...approvers]),
  ]
    .map(visible)
    .join('\n');
}
