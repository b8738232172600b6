// Withdraws an accepted transfer: restores its channels.
import { Refusal } from '#domain/refusal.ts';
import { act } from '../act.ts';
import { undoChannels, undoLines } from './kinds/channels.ts';
import type { ChannelUndo } from './receipt.ts';

export const withdrawTransfer = act({
  name: 'withdraw_transfer',
  summary: 'Withdraw an accepted transfer: restore its channels, unless they were changed later. Its revisions stay.',
  on: 'transfer/ID',
  object: ({ id }: { id: string }) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases'],
    lines: async (tx, { id }: { id: string }, { at }) =>
      undoLines(tx, parseUndo((await tx.transfers.find(id))?.receipt), at),
  },

  /** Returns the restored channels. */
  async perform(tx, { id }: { id: string }, doing): Promise<string[]> {
    const transfer = await tx.transfers.find(id);
    if (transfer?.status !== 'accepted' || transfer.settledAt === null) {
      throw new Refusal('conflict', `The transfer ${id.slice(0, 12)} was not accepted, or was withdrawn already.`);
    }
    const undo = parseUndo(transfer.receipt);
    await undoChannels(tx, undo, transfer.settledAt, doing);
    const channels = undo.map(({ channel }) => channel);
    doing.note({ source: transfer.source, sequence: transfer.sequence, channels });
    await tx.transfers.settle(id, { status: 'withdrawn', receipt: transfer.receipt, at: doing.at, actor: doing.actor });
    return channels;
  },
});

const parseUndo = (receipt: string | null | undefined): ChannelUndo[] =>
  (JSON.parse(receipt ?? '{}') as { undo?: ChannelUndo[] }).undo ?? [];
