// The audit log as lines for a spreadsheet.
import type { AuditRow } from '#records/audit.ts';
import { csvText } from '../frame/csv.ts';

const columns = ['seq', 'at', 'actor', 'session-id', 'action', 'object', 'outcome', 'request-id', 'details', 'hash'];

export const csvHeading = `${columns.join(',')}\r\n`;

export const csvLine = (row: AuditRow): string =>
  csvText([
    ...[String(row.seq), row.at, row.actor, row.sessionId ?? '', row.action, row.object, row.outcome ?? 'done'],
    ...[row.requestId ?? '', row.details, row.hash],
  ]);
