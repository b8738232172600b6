// Summarizes a period of the audit log: counts, exports, accepted transfers, and whether the log is intact.
import type { Receipt } from '#acts/transfers.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { AuditRow } from '#records/audit.ts';
import { verifyAudit } from '#records/audit-verdict.ts';
import type { Export } from '#records/exports.ts';
import type { Records } from '#records/index.ts';
import type { Approval } from '#records/proposals.ts';
import type { OpenStore } from '../frame/store.ts';

/** An accepted transfer, from its receipt. */
export interface Arrival {
  at: string;
  /** The account that accepted it. */
  actor: string;
  source: string;
  sequence: number;
  /** The SHA-256 of its statement. */
  transfer: string;
  /** The label of the site that made it; null if it has none. */
  label: string | null;
  changes: number;
  leftOut: number;
  /** The user names of its approvers. */
  approvedBy: string[];
  media: string[];
  /** When the transfer was withdrawn; null if it was not. */
  withdrawnAt: string | null;
}

/** The summary of a period. */
export interface Summary {
  from: string;
  to: string;
  entries: number;
  /** Actions by actor and outcome, the most frequent first. */
  doings: { actor: string; action: string; outcome: string; count: number }[];
  exports: Export[];
  /** Accepted transfers, in the order of acceptance. */
  arrivals: Arrival[];
  /** The head of the whole log, and the problems found in it. */
  head: { seq: number; hash: string } | null;
  problems: string[];
}

/** Rows per query. */
const batch = 2000;
/** Maximum number of exports in a report; more than a site makes in such a period. */
const mostExports = 10_000;

/** The rows of a period, read in batches. */
export async function* rowsOf({ audit }: Pick<Records, 'audit'>, from: string, to: string): AsyncGenerator<AuditRow> {
  for (let after = 0; ;) {
    const some = await audit.list(after, batch);
    if (some.length === 0) return;
    after = some.at(-1)!.seq;
    // The clock may have been set between two rows, so they are not ordered by time.
    for (const row of some) if (row.at >= from && row.at < to) yield row;
  }
}

export async function summaryOf({ records, siteKey, sealing }: OpenStore, from: string, to: string): Promise<Summary> {
  const { problems, head } = await verifyAudit(records, { siteKey, file: sealing.file });
  const counts = new Map<string, Summary['doings'][number]>();
  let entries = 0;
  for await (const { actor, action, outcome } of rowsOf(records, from, to)) {
    entries += 1;
    const ended = outcome ?? 'done';
    const key = JSON.stringify([actor, action, ended]);
    const known = counts.get(key) ?? { actor, action, outcome: ended, count: 0 };
    counts.set(key, { ...known, count: known.count + 1 });
  }
  const doings = [...counts.values()].sort((a, b) => b.count - a.count || (a.actor < b.actor ? -1 : 1));
  const exports = await records.exports.list(from, to, Number.MAX_SAFE_INTEGER, mostExports);
  const arrivals = await arrivalsIn(records, from, to);
  return { from, to, entries, doings, exports, arrivals, head: head ?? null, problems };
}

/** Maximum number of accepted transfers; more than a site ever accepts. */
const mostArrivals = 100_000;

async function arrivalsIn({ transfers }: Pick<Records, 'transfers'>, from: string, to: string): Promise<Arrival[]> {
  // A withdrawal moves `settledAt` to a later time. So find by that, and filter by the time of acceptance below.
  const settled = await transfers.settledSince(timestamp(after(new Date(from), -1)), mostArrivals);
  return settled
    .map(({ receipt, status, settledAt }) => {
      const said = JSON.parse(receipt ?? '{}') as Receipt;
      return {
        ...{ at: said['accepted-at'], actor: said['accepted-by'], source: said.source, sequence: said.sequence },
        ...{
          transfer: said.transfer,
          label: said.label ?? null,
          changes: said.lines.length,
          leftOut: said['left-out'].length,
        },
        approvedBy: (said.approvals as Approval[]).map(({ username }) => username),
        media: said.media,
        withdrawnAt: status === 'withdrawn' ? settledAt : null,
      };
    })
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}
