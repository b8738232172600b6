// Revisions: withdraw and restore.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { act, type ActContext } from '../act.ts';
import { requireCurrentPackage, packageObject, describeMissingRevision } from '../packages/package.ts';
import { parseReason } from '../reason.ts';
import { recordEndedReleases } from '../releases/releases.ts';

interface RevisionTarget {
  package: PublishedPackage;
  revision: number;
}

const object = ({ package: subject }: RevisionTarget): string => packageObject(subject);

export const withdrawRevision = act<RevisionTarget & { reason: string }, string[]>({
  name: 'withdraw_revision',
  summary: 'Withdraw a revision: its channels become empty, and it cannot be released before it is restored.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'a harmful revision must be stopped at once, and it can be restored' },

  /** Returns the full names of the channels that held it. */
  async perform(tx, { package: subject, revision, reason }, doing) {
    const because = parseReason(reason);
    const stored = await revisionOf(tx, subject, revision);
    if (stored.withdrawnAt !== null) {
      throw new Refusal(
        'conflict',
        `${called(subject, revision)} is withdrawn already: ${stored.withdrawnBecause ?? ''}`,
      );
    }
    const channels = await withdraw(tx, subject.id, { revision, because }, doing);
    doing.note({ revision, because, channels });
    return channels;
  },
});

/** Withdraws a revision. Returns the full names of the channels that held it. */
export async function withdraw(
  tx: ChangeRecords,
  packageId: string,
  { revision, because }: { revision: number; because: string },
  doing: ActContext,
): Promise<string[]> {
  const held = await tx.releases.holding(packageId, revision, doing.at);
  await tx.releases.remove(packageId, revision);
  await recordEndedReleases(tx, held, doing);
  await tx.fleets.markWithdrawn(packageId, revision);
  await tx.revisions.setWithdrawn(packageId, revision, { at: doing.at, actor: doing.actor, because });
  return [...new Set(held.map(({ channel }) => channel))];
}

export const restoreRevision = act<RevisionTarget, void>({
  name: 'restore_revision',
  summary: 'Restore a withdrawn revision; no channel holds it before it is released again.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'no channel holds it before it is released again' },

  async perform(tx, { package: subject, revision }, { note }) {
    const { withdrawnAt, withdrawnBecause: because } = await revisionOf(tx, subject, revision);
    if (withdrawnAt === null) throw new Refusal('conflict', `${called(subject, revision)} is not withdrawn.`);
    await tx.revisions.setWithdrawn(subject.id, revision, undefined);
    note({ revision, 'withdrawn-because': because });
  },
});

const called = ({ name }: PublishedPackage, revision: number): string => `Revision ${String(revision)} of '${name}'`;

async function revisionOf(tx: ChangeRecords, subject: PublishedPackage, revision: number): Promise<Revision> {
  await requireCurrentPackage(tx, subject);
  const stored = await tx.revisions.find(subject.id, revision);
  if (stored !== undefined) return stored;
  throw new Refusal('resource-not-found', await describeMissingRevision(tx, subject, revision));
}
