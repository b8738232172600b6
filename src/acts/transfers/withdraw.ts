// Withdraws an accepted transfer: restores its channels and fleets.
import { Refusal } from '#domain/refusal.ts';
import { act } from '../act.ts';
import { undoFleetChanges, undoFleetLines, type FleetChange } from '../fleets/fleet-change.ts';
import { undoChannels, undoLines } from './kinds/channels.ts';
import type { ChannelUndo } from './receipt.ts';
import { restoredSubjects } from './released-subjects.ts';
import { vulnerabilityLines } from '../vulnerabilities/vulnerability-lines.ts';

export const withdrawTransfer = act({
  name: 'withdraw_transfer',
  summary:
    'Withdraw an accepted transfer: restore its channels and fleets, unless they were changed later. Its revisions stay.',
  on: 'transfer/ID',
  object: ({ id }: { id: string }) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases', 'vulnerabilities'],
    async lines(tx, { id }: { id: string }, { at, policies }) {
      const { undo, fleets } = parseUndo((await tx.transfers.find(id))?.receipt);
      const subjects = restoredSubjects(tx, { undo, fleets }, at);
      const vulnerabilities = await vulnerabilityLines(tx, subjects, { at, policies });
      return [...(await undoLines(tx, undo, at)), ...(await undoFleetLines(tx, fleets)), ...vulnerabilities];
    },
  },

  async perform(tx, { id }: { id: string }, doing): Promise<TransferWithdrawal> {
    const transfer = await tx.transfers.find(id);
    if (transfer?.status !== 'accepted' || transfer.settledAt === null) {
      throw new Refusal('conflict', `The transfer ${id.slice(0, 12)} was not accepted, or was withdrawn already.`);
    }
    const { undo, fleets: changes } = parseUndo(transfer.receipt);
    // The fleets first: they name revisions that the channels give up.
    await undoFleetChanges(tx, changes, doing);
    await undoChannels(tx, undo, transfer.settledAt, doing);
    const channels = undo.map(({ channel }) => channel);
    const fleets = changes.map(({ fleet }) => fleet);
    doing.note({ source: transfer.source, sequence: transfer.sequence, channels });
    if (fleets.length > 0) doing.note({ fleets });
    await tx.transfers.settle(id, { status: 'withdrawn', receipt: transfer.receipt, at: doing.at, actor: doing.actor });
    return { channels, fleets };
  },
});

/** The channels and fleets that are as before the transfer again. */
export interface TransferWithdrawal {
  channels: string[];
  fleets: string[];
}

function parseUndo(receipt: string | null | undefined): { undo: ChannelUndo[]; fleets: FleetChange[] } {
  const { undo = [], fleets = [] } = JSON.parse(receipt ?? '{}') as { undo?: ChannelUndo[]; fleets?: FleetChange[] };
  return { undo, fleets };
}
