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
  summary: 'List the proposals that wait for approvals.',
  options: {
    all: { type: 'boolean', summary: 'List also proposals that are done, rejected, fallen or expired.' },
    before: {
      type: 'integer',
      value: 'PROPOSAL',
      minimum: 1,
      maximum: 1e15 - 1,
      summary: 'List only proposals with a lower number.',
    },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 1000,
      summary: 'The number of proposals. Default: 50.',
    },
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
  summary: 'Show a proposal: its changes, who has approved, and who still may.',
  description:
    '--for-signing writes the text that an approver signs with an approver key on another machine: ' +
    `'ssh-keygen -Y sign -n ${approvalNamespace} -f KEY FILE'.`,
  positionals: [proposalArgument],
  options: {
    'for-signing': {
      type: 'string',
      value: 'FILE',
      summary: 'Write the text to sign to this new file.',
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
          text: `${proposalText(shown)}\n${file} holds the text that an approver signs.`,
          json: { ...presentProposal(shown), 'for-signing': { file, ...written } },
        };
      },
      { writesOutside: signingFile !== undefined },
    );
  },
});
