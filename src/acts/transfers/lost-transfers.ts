// Transfers that were made here and never arrived.
import { Refusal } from '#domain/refusal.ts';
import { act, DoneAlready } from '../act.ts';

export const markTransferLost = act({
  name: 'lose_transfer',
  summary: 'Record that a transfer of this site never arrived, so later ones contain its content again.',
  on: 'transfer/ID',
  object: ({ id }: { id: string; sequence: number }) => `transfer/${id}`,
  gate: { never: 'later transfers only become larger' },

  /** Returns how many contents and packages count as not sent from now on. */
  async perform(tx, { id, sequence }: { id: string; sequence: number }, { note }) {
    if ((await tx.transfers.made(sequence))?.id !== id) {
      throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made here.`);
    }
    const forgotten = await tx.transfers.forgetSent(sequence);
    if (forgotten.contents + forgotten.packages === 0) throw new DoneAlready(forgotten);
    note({ sequence, ...forgotten });
    return forgotten;
  },
});
