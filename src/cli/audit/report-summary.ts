// What a report says of a time: counted over the audit log, with what left the host and whether the log is whole.
import type { Receipt } from '#acts/transfers.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { AuditRow } from '#records/audit.ts';
import { verifyAudit } from '#records/audit-verdict.ts';
import type { Export } from '#records/exports.ts';
import type { Records } from '#records/index.ts';
import type { Approval } from '#records/proposals.ts';
import type { OpenStore } from '../frame/store.ts';

/** A transfer that was let in, as its receipt says. */
export interface Arrival {
  at: string;
  /** Who let it in. */
  actor: string;
  source: string;
  sequence: number;
  /** The SHA-256 of its statement. */
  transfer: string;
  /** Of the site that made it; nothing where it has none. */
  label: string | null;
  changes: number;
  leftOut: number;
  /** The user names of those who approved of it. */
  approvedBy: string[];
  media: string[];
  /** When its releases were put back; nothing where they were not. */
  withdrawnAt: string | null;
}

/** What a report says of a time. */
export interface Summary {
  from: string;
  to: string;
  entries: number;
  /** How often somebody did something, the most frequent first. */
  doings: { actor: string; action: string; outcome: string; count: number }[];
  exports: Export[];
  /** Transfers that were let in, in that order. */
  arrivals: Arrival[];
  /** The head of the whole log, and what is wrong with it. */
  head: { seq: number; hash: string } | null;
  problems: string[];
}

/** How many rows are looked at in one piece. */
const batch = 2000;
/** More than anybody lets out in the time of a report. */
const mostExports = 10_000;

/** The rows of a time, many at a time. */
export async function* rowsOf({ audit }: Pick<Records, 'audit'>, from: string, to: string): AsyncGenerator<AuditRow> {
  for (let after = 0; ;) {
    const some = await audit.list(after, batch);
    if (some.length === 0) return;
    after = some.at(-1)!.seq;
    // The clock may have been set between two of them: the order of the rows is not that of their times.
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

/** More than anybody lets in. */
const mostArrivals = 100_000;

async function arrivalsIn({ transfers }: Pick<Records, 'transfers'>, from: string, to: string): Promise<Arrival[]> {
  // One that was put back later was settled then, and let in before.
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
