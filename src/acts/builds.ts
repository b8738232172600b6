// Build sets, builds and commit workflows, as build hosts report them.
import { buildMayMove, isBuildOver, isWorkflowOver, workflowMayMove } from '#domain/build-status.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Build, BuildSet } from '#records/build-sets.ts';
import type { CommitWorkflow } from '#records/commit-workflows.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { act } from './act.ts';
import { latestOf, packageObject } from './package.ts';

const gate = { never: 'it tells what a build host has done already' };

/** A build in its first report. */
export type NewBuild = Omit<Build, 'buildSetId' | 'createdAt' | 'completedAt'>;

interface NewBuildSet {
  package: PublishedPackage;
  set: Omit<BuildSet, 'packageId' | 'createdAt'>;
  builds: NewBuild[];
}

export const addBuildset = act({
  name: 'add_buildset',
  summary: 'Keep a new build set and its builds.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewBuildSet) => packageObject(subject),
  gate,

  async perform(
    tx,
    { package: subject, set, builds }: NewBuildSet,
    { at, note },
  ): Promise<{ set: BuildSet; builds: Build[] }> {
    await latestOf(tx, subject);
    const kept = { ...set, packageId: subject.id, createdAt: at };
    await tx.buildSets.add(kept);
    const begun = builds.map((build): Build => {
      const completedAt = isBuildOver(build.status) ? at : null;
      return { ...build, buildSetId: set.id, createdAt: at, completedAt };
    });
    for (const [position, build] of begun.entries()) await tx.buildSets.putBuild(subject.id, position, build);
    note({ id: set.id });
    return { set: kept, builds: begun };
  },
});

interface ToldOfBuild {
  package: PublishedPackage;
  buildSetId: string;
  buildId: string;
  /** The new state; omitted fields stay. */
  told: Partial<Pick<Build, 'status' | 'errors' | 'logs' | 'releasedChannel' | 'releasedRevision'>>;
}

export const updateBuild = act({
  name: 'update_build',
  summary: 'Keep what has become of a build.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: ToldOfBuild) => packageObject(subject),
  gate,

  async perform(tx, { package: subject, buildSetId, buildId, told }: ToldOfBuild, { at, note }): Promise<Build> {
    note({ buildset: buildSetId, build: buildId, status: told.status });
    const builds = await tx.buildSets.buildsOf([buildSetId]);
    const position = builds.findIndex(({ id }) => id === buildId);
    const build = builds[position];
    if (build === undefined) throw unknownBuild();
    const next = { ...build, ...told };
    if (!buildMayMove(build.status, next.status)) {
      throw new Refusal('conflict', `A build that is ${build.status} cannot become ${next.status}.`);
    }
    next.completedAt = isBuildOver(next.status) ? (build.completedAt ?? at) : null;
    await tx.buildSets.putBuild(subject.id, position, next);
    return next;
  },
});

/** One error for a missing build and for one of another publisher's package. */
export const unknownBuild = (): Refusal =>
  new Refusal('resource-not-found', 'There is no such build, or this account has no part in its package.');

interface NewWorkflow {
  package: PublishedPackage;
  workflow: Omit<CommitWorkflow, 'packageId' | 'createdAt' | 'completedAt'>;
}

export const addCommitWorkflow = act({
  name: 'add_commit_workflow',
  summary: 'Keep a new commit workflow.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewWorkflow) => packageObject(subject),
  gate,

  async perform(tx, { package: subject, workflow }: NewWorkflow, { at, note }): Promise<CommitWorkflow> {
    await latestOf(tx, subject);
    const completedAt = isWorkflowOver(workflow.status) ? at : null;
    const kept = { ...workflow, packageId: subject.id, createdAt: at, completedAt };
    await tx.commitWorkflows.put(kept);
    note({ id: kept.id });
    return kept;
  },
});

interface ToldOfWorkflow {
  package: PublishedPackage;
  id: string;
  /** The new state; omitted fields stay. */
  told: Partial<Pick<CommitWorkflow, 'status' | 'errors' | 'buildSets'>>;
}

export const updateCommitWorkflow = act({
  name: 'update_commit_workflow',
  summary: 'Keep what has become of a commit workflow.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: ToldOfWorkflow) => packageObject(subject),
  gate,

  async perform(tx, { id, told }: ToldOfWorkflow, { at, note }): Promise<CommitWorkflow> {
    note({ id, status: told.status });
    const before = await tx.commitWorkflows.find(id);
    if (before === undefined) throw unknownWorkflow();
    const next = { ...before, ...told };
    if (!workflowMayMove(before.status, next.status)) {
      const [from, to] = [before.status ?? 'not begun', next.status ?? 'not begun'];
      throw new Refusal('conflict', `A commit workflow that is ${from} cannot become ${to}.`);
    }
    next.completedAt = isWorkflowOver(next.status) ? (before.completedAt ?? at) : null;
    await tx.commitWorkflows.put(next);
    return next;
  },
});

/** One error for a missing workflow and for one of another publisher's package. */
export const unknownWorkflow = (): Refusal =>
  new Refusal('resource-not-found', 'There is no such commit workflow, or this account has no part in its package.');
