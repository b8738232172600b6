// What a report says of a time: counted over the audit log, with what left the host and whether the log is whole.
import type { AuditRow } from '#records/audit.ts';
import { verifyAudit } from '#records/audit-verdict.ts';
import type { Export } from '#records/exports.ts';
import type { Records } from '#records/index.ts';
import type { OpenStore } from '../frame/store.ts';

/** What a report says of a time. */
export interface Summary {
  from: string;
  to: string;
  entries: number;
  /** How often somebody did something, the most frequent first. */
  doings: { actor: string; action: string; outcome: string; count: number }[];
  exports: Export[];
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
  return { from, to, entries, doings, exports, head: head ?? null, problems };
}
