// Commit workflows: the state of the work that a build host does for one commit of a package, with the build sets that it made.
import type { WorkflowStatus } from '#domain/builds/build-status.ts';
import type { BuildError } from './build-sets.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface CommitWorkflow {
  id: string;
  packageId: string;
  commitHash: string | null;
  craftChannel: string;
  craftRevision: number;
  /** The ids of its build sets. */
  buildSets: string[];
  status: WorkflowStatus;
  errors: BuildError[];
  /** `plane` and `domain` are as the build host reported them. The store only compares them with the filters of a listing. */
  plane: string | null;
  domain: string | null;
  createdAt: string;
  completedAt: string | null;
}

/** Filters of a listing; null matches everything. */
export interface WorkflowFilter {
  id: string | null;
  commitHash: string | null;
  channel: string | null;
  plane: string | null;
  domain: string | null;
}

type CommitWorkflowRow = Omit<CommitWorkflow, 'buildSets' | 'errors'> & { buildSets: string; errors: string };

const asWorkflow = (row: CommitWorkflowRow): CommitWorkflow => ({
  ...row,
  buildSets: JSON.parse(row.buildSets) as string[],
  errors: JSON.parse(row.errors) as BuildError[],
});

const workflowColumns = columns`
  id, package_id AS "packageId", commit_hash AS "commitHash", craft_channel AS "craftChannel",
  craft_revision AS "craftRevision", build_sets AS "buildSets", status, errors, plane, domain,
  created_at AS "createdAt", completed_at AS "completedAt"`;

export const commitWorkflows = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(id: string): Promise<CommitWorkflow | undefined> {
    const row = await db.get<CommitWorkflowRow>(sql`
      SELECT ${workflowColumns}
      FROM commit_workflows WHERE id = ${id}`);
    return row && asWorkflow(row);
  },

  /** Lists a package's commit workflows, newest first. */
  async list(packageId: string, filter: WorkflowFilter, limit: number): Promise<CommitWorkflow[]> {
    const rows = await db.all<CommitWorkflowRow>(sql`
      SELECT ${workflowColumns}
      FROM commit_workflows
      WHERE package_id = ${packageId}
        AND (${filter.id} IS NULL OR id = ${filter.id})
        AND (${filter.commitHash} IS NULL OR commit_hash = ${filter.commitHash})
        AND (${filter.channel} IS NULL OR craft_channel = ${filter.channel})
        AND (${filter.plane} IS NULL OR plane = ${filter.plane})
        AND (${filter.domain} IS NULL OR domain = ${filter.domain})
      ORDER BY created_at DESC, seq DESC LIMIT ${limit}`);
    return rows.map(asWorkflow);
  },
});

export const commitWorkflowChanges = (db: Queries) => ({
  ...commitWorkflows(db),

  /** Adds a workflow, or updates it. */
  put: (w: CommitWorkflow) =>
    db.run(sql`
      INSERT INTO commit_workflows (id, package_id, commit_hash, craft_channel, craft_revision, build_sets, status, errors,
        plane, domain, created_at, completed_at, seq)
      VALUES (${w.id}, ${w.packageId}, ${w.commitHash}, ${w.craftChannel}, ${w.craftRevision}, ${JSON.stringify(w.buildSets)},
        ${w.status}, ${JSON.stringify(w.errors)}, ${w.plane}, ${w.domain}, ${w.createdAt}, ${w.completedAt},
        (SELECT COALESCE(MAX(seq), 0) + 1 FROM commit_workflows))
      ON CONFLICT (id) DO UPDATE
      SET build_sets = excluded.build_sets, status = excluded.status, errors = excluded.errors,
        completed_at = excluded.completed_at`),
});
