// larder approval list, larder approval show
import { resolve } from 'node:path';

import { textToSign } from '#acts/approvals/text-to-sign.ts';
import { readProposalStatus, computeProposalStatus } from '#acts/approvals/proposal-status.ts';
import { approvalNamespace } from '#domain/approvals/approval-text.ts';
import { timestamp } from '#domain/clock.ts';
import { presentProposal } from '#operations/approvals/present.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { proposalArgument, proposalNumber, proposalText, stateText } from './proposal.ts';

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
      const proposals = await records.proposals.list({ before, openAt: all ? undefined : at }, limit);
      const shown = await Promise.all(proposals.map((proposal) => computeProposalStatus(records, proposal, at)));
      const rows = shown.map((state) => {
        const { number, act, object, actor, endsAt } = state.proposal;
        return [String(number), stateText(state), act, object, actor, endsAt];
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
  description:
    '--for-signing writes all of it as the text that is signed by whoever approves with a key of his own, on a machine of his own: ' +
    `'ssh-keygen -Y sign -n ${approvalNamespace} -f KEY FILE'.`,
  positionals: [proposalArgument],
  options: {
    'for-signing': {
      type: 'string',
      value: 'FILE',
      summary: 'Write it as what is signed, into a file that is not there yet.',
    },
  },
  examples: ['larder approval show 7', 'larder approval show 7 --for-signing ./proposal-7'],

  run({ positionals, options: { 'for-signing': signingFile }, data, world }) {
    const number = proposalNumber(positionals.number);
    return withStore(
      { data, world },
      async ({ records, now, asCaller }) => {
        const shown = await readProposalStatus(records, number, timestamp(now()));
        if (signingFile === undefined) return { text: proposalText(shown), json: presentProposal(shown) };
        const file = resolve(signingFile);
        const text = await textToSign(records, shown.proposal);
        const written = await writeNew(file, asCaller, (append) => append(text));
        return {
          text: `${proposalText(shown)}\n${file} is what whoever approves signs.`,
          json: { ...presentProposal(shown), 'for-signing': { file, ...written } },
        };
      },
      { writesOutside: signingFile !== undefined },
    );
  },
});
