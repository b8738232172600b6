// Summarizes a period of the audit log: counts, exports, accepted transfers, and whether the log is intact.
import { toActName } from '#acts/audit-words.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import type { Export } from '#records/store/exports.ts';
import type { StoreRecords } from '#records/index.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { OpenStore } from '../frame/store.ts';

/** An accepted transfer, from its receipt. */
export interface AcceptedTransferEntry {
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
export interface AuditSummary {
  from: string;
  to: string;
  entries: number;
  /** Actions by actor and outcome, the most frequent first. */
  doings: { actor: string; action: string; outcome: string; count: number }[];
  exports: Export[];
  /** Accepted transfers, in the order of acceptance. */
  arrivals: AcceptedTransferEntry[];
  /** The head of the whole log, and the problems found in it. */
  head: { seq: number; hash: string } | null;
  problems: string[];
}

/** Rows per query. */
const batch = 2000;
/** Maximum number of exports in a report; more than a site makes in such a period. */
const maxExports = 10_000;

/** The rows of a period, read in batches. */
export async function* readRows(
  { audit }: Pick<StoreRecords, 'audit'>,
  from: string,
  to: string,
): AsyncGenerator<AuditRow> {
  for (let after = 0; ;) {
    const some = await audit.list(after, batch);
    if (some.length === 0) return;
    after = some.at(-1)!.seq;
    // The clock may have been set between two rows, so they are not ordered by time.
    for (const row of some) if (row.at >= from && row.at < to) yield row;
  }
}

export async function summarizeAudit(
  { records, siteKey, sealing }: OpenStore,
  from: string,
  to: string,
): Promise<AuditSummary> {
  const { problems, head } = await verifyAudit(records, { siteKey, file: sealing.file });
  const counts = new Map<string, AuditSummary['doings'][number]>();
  let entries = 0;
  for await (const { actor, action: word, outcome } of readRows(records, from, to)) {
    const action = toActName(word);
    entries += 1;
    const ended = outcome ?? 'done';
    const key = JSON.stringify([actor, action, ended]);
    const current = counts.get(key) ?? { actor, action, outcome: ended, count: 0 };
    counts.set(key, { ...current, count: current.count + 1 });
  }
  const doings = [...counts.values()].sort((a, b) => b.count - a.count || (a.actor < b.actor ? -1 : 1));
  const exports = await records.exports.list(from, to, Number.MAX_SAFE_INTEGER, maxExports);
  const arrivals = await listAcceptedTransfers(records, from, to);
  return { from, to, entries, doings, exports, arrivals, head: head ?? null, problems };
}

/** Maximum number of accepted transfers; more than a site ever accepts. */
const maxAcceptedTransfers = 100_000;

async function listAcceptedTransfers(
  { transfers }: Pick<StoreRecords, 'transfers'>,
  from: string,
  to: string,
): Promise<AcceptedTransferEntry[]> {
  // A withdrawal moves `settledAt` to a later time. So find by that, and filter by the time of acceptance below.
  const settled = await transfers.settledSince(timestamp(after(new Date(from), -1)), maxAcceptedTransfers);
  return settled
    .map(({ receipt, status, settledAt }) => {
      const parsedReceipt = JSON.parse(receipt ?? '{}') as Receipt;
      return {
        at: parsedReceipt['accepted-at'],
        actor: parsedReceipt['accepted-by'],
        source: parsedReceipt.source,
        sequence: parsedReceipt.sequence,
        transfer: parsedReceipt.transfer,
        label: parsedReceipt.label ?? null,
        changes: parsedReceipt.lines.length,
        leftOut: parsedReceipt['left-out'].length,
        approvedBy: (parsedReceipt.approvals as StoredApproval[]).map(({ username }) => username),
        media: parsedReceipt.media,
        withdrawnAt: status === 'withdrawn' ? settledAt : null,
      };
    })
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}
