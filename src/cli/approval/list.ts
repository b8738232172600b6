// larder approval list, larder approval show
import { proposalState, stateOf } from '#acts/proposal-state.ts';
import { timestamp } from '#domain/clock.ts';
import { presentProposal } from '#operations/approvals/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { proposalArgument, proposalNumber, proposalText, stateText } from './shown.ts';

export const approvalList = command({
  name: 'approval list',
  summary: 'List what waits until others approve of it.',
  options: {
    all: { type: 'boolean', summary: 'With what was done, rejected, fallen or expired.' },
    before: {
      type: 'integer',
      value: 'PROPOSAL',
      minimum: 1,
      maximum: 1e15 - 1,
      summary: 'Only those before this one.',
    },
    limit: { type: 'integer', value: 'COUNT', minimum: 1, maximum: 1000, summary: 'How many; otherwise 50.' },
  },
  examples: ['larder approval list', 'larder approval list --all --json'],

  run: ({ options: { all, before = Number.MAX_SAFE_INTEGER, limit = 50 }, data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const at = timestamp(now());
      const found = await records.proposals.list({ before, openAt: all ? undefined : at }, limit);
      const shown = await Promise.all(found.map((one) => stateOf(records, one, at)));
      const rows = shown.map((one) => {
        const { number, act, object, actor, endsAt } = one.proposal;
        return [String(number), stateText(one), act, object, actor, endsAt];
      });
      return {
        text: rows.length === 0 ? 'Nothing waits.' : table(['NUMBER', 'STATE', 'ACT', 'OBJECT', 'BY', 'UNTIL'], rows),
        json: { proposals: shown.map(presentProposal) },
      };
    }),
});

export const approvalShow = command({
  name: 'approval show',
  summary: 'Show what is proposed: what it changes, who has approved, and who still may.',
  positionals: [proposalArgument],
  examples: ['larder approval show 7'],

  run({ positionals, data, world }) {
    const number = proposalNumber(positionals.number);
    return withStore({ data, world }, async ({ records, now }) => {
      const shown = await proposalState(records, number, timestamp(now()));
      return { text: proposalText(shown), json: presentProposal(shown) };
    });
  },
});
