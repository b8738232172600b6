// Formats the audit log as CSV.
import { formatCount } from '#domain/quantities.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { csvText } from '../frame/csv.ts';
import type { AcceptedTransferEntry, AuditSummary } from './report-summary.ts';

const columns = ['seq', 'at', 'actor', 'session-id', 'action', 'object', 'outcome', 'request-id', 'details', 'hash'];

export const csvHeading = `${columns.join(',')}\r\n`;

export const csvLine = (row: AuditRow): string =>
  csvText([
    ...[String(row.seq), row.at, row.actor, row.sessionId ?? '', row.action, row.object, row.outcome ?? 'done'],
    ...[row.requestId ?? '', row.details, row.hash],
  ]);

const moved = [
  'direction',
  'at',
  'actor',
  'what',
  'which',
  'sha256',
  'bytes',
  'media',
  'label',
  'approved-by',
  'notes',
];

export const movedHeading = `${moved.join(',')}\r\n`;

/** Yields one CSV line per export (`out`) and per accepted transfer (`in`), oldest first. */
export function* movedLines({ exports, arrivals }: Pick<AuditSummary, 'exports' | 'arrivals'>): Generator<string> {
  const out = exports.map((exported) => ({
    at: exported.at,
    texts: [
      'out',
      exported.at,
      exported.actor,
      exported.what,
      exported.name,
      exported.sha256,
      String(exported.bytes),
      exported.media ?? '',
      exported.label ?? '',
    ],
    more: ['', ''],
  }));
  const into = arrivals.map((arrival) => ({
    at: arrival.at,
    texts: [
      'in',
      arrival.at,
      arrival.actor,
      'transfer',
      `${arrival.source} ${String(arrival.sequence)}`,
      arrival.transfer,
      '',
    ],
    more: [arrival.media.join('; '), arrival.label ?? '', arrival.approvedBy.join('; '), notesOf(arrival)],
  }));
  for (const { texts, more } of [...out, ...into].sort((a, b) => (a.at < b.at ? -1 : 1)))
    yield csvText([...texts, ...more]);
}

/** Further notes on an accepted transfer. */
export const notesOf = ({ changes, leftOut, withdrawnAt }: AcceptedTransferEntry): string =>
  [
    formatCount(changes, 'change'),
    ...(leftOut === 0 ? [] : [`${String(leftOut)} left out`]),
    ...(withdrawnAt === null ? [] : [`rolled back at ${withdrawnAt}`]),
  ].join(', ');
