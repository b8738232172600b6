// Build sets, builds and commit workflows, as build hosts report them.
import { buildMayMove, isBuildOver, isWorkflowOver, workflowMayMove } from '#domain/builds/build-status.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Build, BuildSet } from '#records/builds/build-sets.ts';
import type { CommitWorkflow } from '#records/builds/commit-workflows.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from '../packages/package.ts';

const gate = { never: 'it records work that a build host has already done' };

/** A build in its first report. */
export type NewBuild = Omit<Build, 'buildSetId' | 'createdAt' | 'completedAt'>;

interface NewBuildSet {
  package: PublishedPackage;
  set: Omit<BuildSet, 'packageId' | 'createdAt'>;
  builds: NewBuild[];
}

export const addBuildset = act({
  name: 'add_buildset',
  summary: 'Record a new build set and its builds.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewBuildSet) => packageObject(subject),
  gate,

  async perform(
    tx,
    { package: subject, set, builds }: NewBuildSet,
    { at, note },
  ): Promise<{ set: BuildSet; builds: Build[] }> {
    await requireCurrentPackage(tx, subject);
    const buildSet = { ...set, packageId: subject.id, createdAt: at };
    await tx.buildSets.add(buildSet);
    const begun = builds.map((build): Build => {
      const completedAt = isBuildOver(build.status) ? at : null;
      return { ...build, buildSetId: set.id, createdAt: at, completedAt };
    });
    for (const [position, build] of begun.entries()) await tx.buildSets.putBuild(subject.id, position, build);
    note({ id: set.id });
    return { set: buildSet, builds: begun };
  },
});

interface BuildChange {
  package: PublishedPackage;
  buildSetId: string;
  buildId: string;
  /** The new state; omitted fields stay. */
  changes: Partial<Pick<Build, 'status' | 'errors' | 'logs' | 'releasedChannel' | 'releasedRevision'>>;
}

export const updateBuild = act({
  name: 'update_build',
  summary: 'Record the state of a build.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: BuildChange) => packageObject(subject),
  gate,

  async perform(tx, { package: subject, buildSetId, buildId, changes }: BuildChange, { at, note }): Promise<Build> {
    note({ buildset: buildSetId, build: buildId, status: changes.status });
    const builds = await tx.buildSets.buildsOf([buildSetId]);
    const position = builds.findIndex(({ id }) => id === buildId);
    const build = builds[position];
    if (build === undefined) throw unknownBuild();
    const next = { ...build, ...changes };
    if (!buildMayMove(build.status, next.status)) {
      throw new Refusal('conflict', `A build that is ${build.status} cannot become ${next.status}.`);
    }
    next.completedAt = isBuildOver(next.status) ? (build.completedAt ?? at) : null;
    await tx.buildSets.putBuild(subject.id, position, next);
    return next;
  },
});

/**
 * The refusal for an unknown build. A build of another publisher's package gets the same refusal, so that the caller does not learn
 * that it exists.
 */
export const unknownBuild = (): Refusal =>
  new Refusal('resource-not-found', 'There is no such build, or this account has no rights on its package.');

interface NewWorkflow {
  package: PublishedPackage;
  workflow: Omit<CommitWorkflow, 'packageId' | 'createdAt' | 'completedAt'>;
}

export const addCommitWorkflow = act({
  name: 'add_commit_workflow',
  summary: 'Record a new commit workflow.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewWorkflow) => packageObject(subject),
  gate,

  async perform(tx, { package: subject, workflow }: NewWorkflow, { at, note }): Promise<CommitWorkflow> {
    await requireCurrentPackage(tx, subject);
    const completedAt = isWorkflowOver(workflow.status) ? at : null;
    const newWorkflow = { ...workflow, packageId: subject.id, createdAt: at, completedAt };
    await tx.commitWorkflows.put(newWorkflow);
    note({ id: newWorkflow.id });
    return newWorkflow;
  },
});

interface WorkflowChange {
  package: PublishedPackage;
  id: string;
  /** The new state; omitted fields stay. */
  changes: Partial<Pick<CommitWorkflow, 'status' | 'errors' | 'buildSets'>>;
}

export const updateCommitWorkflow = act({
  name: 'update_commit_workflow',
  summary: 'Record the state of a commit workflow.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: WorkflowChange) => packageObject(subject),
  gate,

  async perform(tx, { id, changes }: WorkflowChange, { at, note }): Promise<CommitWorkflow> {
    note({ id, status: changes.status });
    const before = await tx.commitWorkflows.find(id);
    if (before === undefined) throw unknownWorkflow();
    const next = { ...before, ...changes };
    if (!workflowMayMove(before.status, next.status)) {
      const [from, to] = [before.status ?? 'not begun', next.status ?? 'not begun'];
      throw new Refusal('conflict', `A commit workflow that is ${from} cannot become ${to}.`);
    }
    next.completedAt = isWorkflowOver(next.status) ? (before.completedAt ?? at) : null;
    await tx.commitWorkflows.put(next);
    return next;
  },
});

/**
 * The refusal for an unknown commit workflow. A workflow of another publisher's package gets the same refusal, so that the caller does not
 * learn that it exists.
 */
export const unknownWorkflow = (): Refusal =>
  new Refusal('resource-not-found', 'There is no such commit workflow, or this account has no rights on its package.');
