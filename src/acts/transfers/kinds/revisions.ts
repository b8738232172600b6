// Revisions of packages in transfers.
import type { TransferRevision } from '#contract/wire.ts';
import { readForeignSnap } from '#assertions/foreign-snap.ts';
import { Refusal, refusalReason } from '#domain/refusal.ts';
import { addRevisionTo } from '../../revisions/new-revision.ts';
import { subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { ContentKind } from './content-kind.ts';
import { contradictionReason, otherContentReason, sameContentReason, unvouchedNote } from './reasons.ts';

export const revisionContent: ContentKind = {
  async plan(planning) {
    const newest = await planning.records.revisions.newest(planning.carried.id);
    for (const sentRevision of planning.carried.revisions) await planRevision(planning, sentRevision, newest);
  },

  async accept({ tx, plan, subject, findings }) {
    for (const { sentRevision, isDeleted, assertion } of plan.revisions) {
      const { revision, content, 'created-at': createdAt, 'created-by': createdBy } = sentRevision;
      if (isDeleted) await tx.revisions.setDeleted(subject.id, [revision], undefined);
      else {
        const { sha256, 'sha3-384': sha3_384, size } = content;
        const added = { revision, sha3_384, sha256, size, createdAt, createdBy };
        await addRevisionTo(tx, subject, added, await findings('revision', subjectOf(subject.id, revision)));
      }
      if (assertion !== undefined) await tx.revisions.setAssertion(subject.id, revision, assertion);
    }
  },
};

/** Adds a revision that is not here, or was deleted here. `newest` is the highest number here. */
async function planRevision(planning: PackagePlanning, sentRevision: TransferRevision, newest: number): Promise<void> {
  const { carried, records, plan } = planning;
  const { id, name, namespace } = carried;
  const { revision, content, version } = sentRevision;
  const item = `revision ${String(revision)}`;
  const numbered = await records.revisions.numbered(id, revision);
  if (numbered !== undefined && numbered.sha3_384 !== content['sha3-384']) {
    planning.problem(item, otherContentReason);
    return;
  }
  if (numbered !== undefined && numbered.deletedAt === null) return;
  if (planning.isTooHigh(sentRevision, item)) return;
  const twin = numbered === undefined ? await records.revisions.withContent(id, content['sha3-384']) : undefined;
  if (twin !== undefined) {
    planning.problem(item, sameContentReason(twin));
    return;
  }
  if (!(await planning.hasContent(item, content['sha3-384']))) return;
  if (!(await planning.passesReview(subjectOf(id, revision), item))) return;
  const { assertion, problem } = await findVouchingAssertion(planning, sentRevision);
  if (problem !== undefined) {
    planning.problem(item, problem);
    return;
  }
  const notes = [
    ...(numbered === undefined && newest > revision ? [`older than revision ${String(newest)}, which is here`] : []),
    ...(numbered === undefined ? [] : ['was deleted, and comes back']),
    ...(namespace === 'snap' && assertion === undefined ? [unvouchedNote] : []),
  ];
  plan.revisions.push({ sentRevision, isDeleted: numbered !== undefined, assertion });
  const line = { kind: 'revision', what: item, from: null, to: version ?? name, notes } as const;
  planning.line(line, assertion === undefined ? undefined : 'upstream');
}

/** The verified assertion about a revision, if there is one, or why it contradicts the transfer. */
async function findVouchingAssertion(
  { carried, inputs }: PackagePlanning,
  sentRevision: TransferRevision,
): Promise<{ assertion: string | undefined; problem?: string | undefined }> {
  const assertion = sentRevision.assertion === undefined ? undefined : inputs.believed.find(sentRevision.assertion);
  if (assertion?.type !== 'snap-revision') return { assertion: undefined };
  const problem = await refusalReason(() => {
    const { id, name, publisher, ...asserted } = readForeignSnap(assertion, inputs.believed.find);
    const isSame =
      id === carried.id &&
      name === carried.name &&
      publisher.id === carried.publisher &&
      asserted.revision === sentRevision.revision &&
      asserted.sha3_384 === sentRevision.content['sha3-384'] &&
      asserted.size === sentRevision.content.size;
    if (!isSame) throw new Refusal('conflict', contradictionReason);
  });
  return { assertion: sentRevision.assertion, problem };
}
