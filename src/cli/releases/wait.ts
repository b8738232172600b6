// larder release wait
import { readProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import { days, timestamp } from '#domain/clock.ts';
import { createChangeWaiter } from '#shared/change-waiter.ts';
import { presentProposal } from '#operations/approvals/present.ts';
import { proposalArgument, proposalNumber, proposalText } from '../approvals/proposal.ts';
import { command } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { withStore } from '../frame/store.ts';

/** The exit code for each outcome. */
const exitCodes: Record<ProposalStatus['state'], number> = {
  approved: 0,
  done: 0,
  rejected: 4,
  expired: 5,
  fallen: 6,
  waits: 7,
};

export const releaseWait = command({
  name: 'release wait',
  summary: 'Wait until a proposed release is approved, rejected or expired.',
  description:
    'Exit code 0 means approved: repeat the release, if it is not done already. 4 means rejected, 5 expired, 6 ' +
    'that it fell because the channel has changed since, 7 that it still waits after --timeout.',
  positionals: [proposalArgument],
  options: {
    timeout: { type: 'string', value: 'DURATION', summary: 'The longest time to wait, such as 2h. Default: no limit.' },
  },
  examples: ['larder release wait 7', 'larder release wait 7 --timeout 2h'],

  run({ positionals, options: { timeout }, data, world }) {
    const number = proposalNumber(positionals.number);
    const timeoutMs = timeout === undefined ? Infinity : readDuration(timeout, '--timeout', days(90));
    return withStore({ data, world }, async ({ records, now }) => {
      const look = (): Promise<ProposalStatus> => readProposalStatus(records, number, timestamp(now()));
      const decided = async (): Promise<ProposalStatus | undefined> => {
        const state = await look();
        return state.state === 'waits' ? undefined : state;
      };
      const shown = (await createChangeWaiter().until(String(number), decided, { timeoutMs })) ?? (await look());
      return { text: proposalText(shown), json: presentProposal(shown), exitCode: exitCodes[shown.state] };
    });
  },
});
