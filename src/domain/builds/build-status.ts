// The states of builds and commit workflows, and the permitted transitions.

export const buildStatuses = ['waiting', 'running', 'succeeded', 'failed'] as const;
export type BuildStatus = (typeof buildStatuses)[number];

const buildMoves: Record<BuildStatus, readonly BuildStatus[]> = {
  waiting: ['running', 'failed'],
  running: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
};

export type WorkflowStatus = 'in-progress' | 'completed' | 'failed' | null;

const workflowMoves = (from: WorkflowStatus): readonly WorkflowStatus[] =>
  from === null ? ['in-progress'] : from === 'in-progress' ? ['completed', 'failed'] : [];

/** Whether a transition of a build is permitted. Staying in a state always is. */
export const buildMayMove = (from: BuildStatus, to: BuildStatus): boolean =>
  from === to || buildMoves[from].includes(to);

export const workflowMayMove = (from: WorkflowStatus, to: WorkflowStatus): boolean =>
  from === to || workflowMoves(from).includes(to);

export const isBuildOver = (status: BuildStatus): boolean => buildMoves[status].length === 0;

export const isWorkflowOver = (status: WorkflowStatus): boolean => workflowMoves(status).length === 0;
