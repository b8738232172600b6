// Withdraws an accepted transfer: restores its channels.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { Refusal } from '#domain/refusal.ts';
import { slotText } from '#domain/releases/release-text.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import { act, type ActContext } from '../act.ts';
import { slotLine } from '../releases/release-lines.ts';
import { refuseRiskAgain, recordRelease, recordEndedReleases } from '../releases/releases.ts';
import type { ChannelUndo, Receipt } from './receipt.ts';

export const withdrawTransfer = act({
  name: 'withdraw_transfer',
  summary: 'Withdraw an accepted transfer: restore its channels, unless they were changed later. Its revisions stay.',
  on: 'transfer/ID',
  object: ({ id }: { id: string }) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases'],
    async lines(tx, { id }: { id: string }, { at }) {
      const { undo = [] } = JSON.parse((await tx.transfers.find(id))?.receipt ?? '{}') as Partial<Receipt>;
      const lines: ApprovalLine[] = [];
      for (const [packageId, ofPackage] of Map.groupBy(undo, (step) => step.id)) {
        const subject = await tx.packages.byId(packageId);
        if (subject === undefined) continue;
        const held = await tx.releases.current(packageId, at);
        for (const some of Map.groupBy(ofPackage, ({ channel, slot }) => `${channel} ${slot}`).values()) {
          const { channel, slot } = some[0]!;
          const current = held.filter((release) => release.channel === channel && release.slot === slot);
          const stays = current.filter(
            (release) => !some.some((other) => other.isProgressive === isProgressive(release.progressive)),
          );
          const to = slotText([...stays, ...some.flatMap(({ before }) => before ?? [])]);
          const line = slotLine(subject, channel, slot, { from: slotText(current), to });
          lines.push(line, { ...line, kind: 'transfers' });
        }
      }
      return lines;
    },
  },

  /** Returns the restored channels. */
  async perform(tx, { id }: { id: string }, doing): Promise<string[]> {
    const transfer = await tx.transfers.find(id);
    if (transfer?.status !== 'accepted' || transfer.settledAt === null) {
      throw new Refusal('conflict', `The transfer ${id.slice(0, 12)} was not accepted, or was withdrawn already.`);
    }
    const { undo } = JSON.parse(transfer.receipt ?? '{}') as { undo: ChannelUndo[] };
    for (const step of undo) await refuseLater(tx, step, transfer.settledAt);
    // Restoring a revision counts as a release of it, so the same check applies.
    for (const { before } of undo) if (before !== null) await refuseRiskAgain(tx, before);
    for (const step of undo.toReversed()) await restoreSlot(tx, step, doing);
    const channels = undo.map(({ channel }) => channel);
    doing.note({ source: transfer.source, sequence: transfer.sequence, channels });
    await tx.transfers.settle(id, { status: 'withdrawn', receipt: transfer.receipt, at: doing.at, actor: doing.actor });
    return channels;
  },
});

const heldAt = async (
  tx: ChangeRecords,
  { id, channel, slot, isProgressive: over }: ChannelUndo,
): Promise<Release | undefined> =>
  (await tx.releases.held(id)).find(
    (release) => release.channel === channel && release.slot === slot && isProgressive(release.progressive) === over,
  );

async function refuseLater(tx: ChangeRecords, undo: ChannelUndo, acceptedAt: string): Promise<void> {
  const held = await heldAt(tx, undo);
  const isAsLeft =
    undo.put === null ? held === undefined : held?.revision === undo.put && held.releasedAt === acceptedAt;
  if (isAsLeft) return;
  const subject = await tx.packages.byId(undo.id);
  throw new Refusal(
    'conflict',
    `${subject === undefined ? undo.id : `${subject.namespace}/${subject.name}`} ${undo.channel} was changed after the transfer ` +
      'was accepted, so nothing was withdrawn.',
  );
}

async function restoreSlot(tx: ChangeRecords, undo: ChannelUndo, doing: ActContext): Promise<void> {
  const held = await heldAt(tx, undo);
  if (undo.before !== null) {
    const filled = { ...undo.before, releasedAt: doing.at };
    await tx.releases.fill(filled);
    await recordRelease(tx, filled, undo.isProgressive ? null : (held?.revision ?? null), doing);
  } else if (held !== undefined) {
    await tx.releases.empty(held);
    await recordEndedReleases(tx, [held], doing);
  }
}
