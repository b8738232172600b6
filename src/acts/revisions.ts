// Revisions: withdraw and restore.
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Revision } from '#records/revisions.ts';
import { act, type Doing } from './act.ts';
import { latestOf, packageObject, whyNoRevision } from './package.ts';
import { reasonOf } from './reason.ts';
import { rememberEnded } from './releases.ts';

interface OfPackage {
  package: PublishedPackage;
  revision: number;
}

const object = ({ package: subject }: OfPackage): string => packageObject(subject);

export const withdrawRevision = act<OfPackage & { reason: string }, string[]>({
  name: 'withdraw_revision',
  summary: 'Withdraw a revision: whatever held it holds nothing, and nothing can hold it before it is brought back.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'what harms devices has to end at once, and the revision may be brought back' },

  /** Returns the full names of the channels that held it. */
  async perform(tx, { package: subject, revision, reason }, doing) {
    const because = reasonOf(reason);
    const found = await revisionOf(tx, subject, revision);
    if (found.withdrawnAt !== null) {
      throw new Refusal(
        'conflict',
        `${called(subject, revision)} is withdrawn already: ${found.withdrawnBecause ?? ''}`,
      );
    }
    const channels = await withdraw(tx, subject.id, { revision, because }, doing);
    doing.note({ revision, because, channels });
    return channels;
  },
});

/** Withdraws a revision. Returns the full names of the channels that held it. */
export async function withdraw(
  tx: Changes,
  packageId: string,
  { revision, because }: { revision: number; because: string },
  doing: Doing,
): Promise<string[]> {
  const held = await tx.releases.holding(packageId, revision, doing.at);
  await tx.releases.remove(packageId, revision);
  await rememberEnded(tx, held, doing);
  await tx.revisions.setWithdrawn(packageId, revision, { at: doing.at, by: doing.actor, because });
  return [...new Set(held.map(({ channel }) => channel))];
}

export const restoreRevision = act<OfPackage, void>({
  name: 'restore_revision',
  summary: 'Bring back a revision that was withdrawn; no channel holds it before it is released again.',
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

async function revisionOf(tx: Changes, subject: PublishedPackage, revision: number): Promise<Revision> {
  await latestOf(tx, subject);
  const found = await tx.revisions.find(subject.id, revision);
  if (found !== undefined) return found;
  throw new Refusal('resource-not-found', await whyNoRevision(tx, subject, revision));
}
