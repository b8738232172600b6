// Formats the audit log as CSV.
import { counted } from '#domain/quantities.ts';
import type { AuditRow } from '#records/audit.ts';
import { csvText } from '../frame/csv.ts';
import type { Arrival, Summary } from './report-summary.ts';

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

/** Exports and accepted transfers, in the order of time. */
export function* movedLines({ exports, arrivals }: Pick<Summary, 'exports' | 'arrivals'>): Generator<string> {
  const out = exports.map((one) => ({
    at: one.at,
    texts: [
      'out',
      one.at,
      one.actor,
      one.what,
      one.name,
      one.sha256,
      String(one.bytes),
      one.media ?? '',
      one.label ?? '',
    ],
    more: ['', ''],
  }));
  const into = arrivals.map((one) => ({
    at: one.at,
    texts: ['in', one.at, one.actor, 'transfer', `${one.source} ${String(one.sequence)}`, one.transfer, ''],
    more: [one.media.join('; '), one.label ?? '', one.approvedBy.join('; '), notesOf(one)],
  }));
  for (const { texts, more } of [...out, ...into].sort((a, b) => (a.at < b.at ? -1 : 1)))
    yield csvText([...texts, ...more]);
}

/** Further notes on an accepted transfer. */
export const notesOf = ({ changes, leftOut, withdrawnAt }: Arrival): string =>
  [
    counted(changes, 'change'),
    ...(leftOut === 0 ? [] : [`${String(leftOut)} left out`]),
    ...(withdrawnAt === null ? [] : [`put back at ${withdrawnAt}`]),
  ].join(', ');
