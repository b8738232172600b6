// The audit log as a file: one JSON document a line, oldest entry first.
import { createDigest } from '#domain/cryptography.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import type { StoreRecords } from '#records/index.ts';

type AuditLogRows = Pick<StoreRecords['audit'], 'list'>;

/** A range of entries: those after the number `after`, up to and including `last`. */
interface AuditExportSpan {
  after: number;
  last: number;
}

/** Rows per query. */
const batch = 500;

/** An entry for programs; details as an object, the word and hashes as in the chain. */
export const presentAudit = ({ sessionId, requestId, details, ...row }: AuditRow) => ({
  ...row,
  'session-id': sessionId,
  'request-id': requestId,
  details: JSON.parse(details) as unknown,
});

/** The entries of a span, in batches. */
export async function* auditLines(
  audit: AuditLogRows,
  { after, last }: AuditExportSpan,
): AsyncGenerator<{ text: string; count: number; seq: number }> {
  for (let from = after; from < last;) {
    const rows = (await audit.list(from, batch)).filter(({ seq }) => seq <= last);
    const newest = rows.at(-1);
    if (newest === undefined) return;
    from = newest.seq;
    const text = rows.map((row) => `${JSON.stringify(presentAudit(row))}\n`).join('');
    yield { text, count: rows.length, seq: from };
  }
}

/** The number of entries, the size and the SHA-256 of a file of a span. Entries never change, so it can be read again. */
export async function measureAuditLines(audit: AuditLogRows, span: AuditExportSpan) {
  const sha256 = createDigest('content sha256');
  let [entries, bytes] = [0, 0];
  for await (const { text, count } of auditLines(audit, span)) {
    sha256.update(text);
    entries += count;
    bytes += Buffer.byteLength(text);
  }
  return { entries, bytes, sha256: sha256.digest('hex') };
}
