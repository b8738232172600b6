// The audit log as lines for a spreadsheet (RFC 4180).
import type { AuditRow } from '#records/audit.ts';

const columns = ['seq', 'at', 'actor', 'session-id', 'action', 'object', 'outcome', 'request-id', 'details', 'hash'];

export const csvHeading = `${columns.join(',')}\r\n`;

export const csvLine = (row: AuditRow): string =>
  `${[
    ...[String(row.seq), row.at, row.actor, row.sessionId ?? '', row.action, row.object, row.outcome ?? 'done'],
    ...[row.requestId ?? '', row.details, row.hash],
  ]
    .map(cell)
    .join(',')}\r\n`;

/**
 * A cell between quotes. What a spreadsheet would take for a formula begins with an apostrophe: names and details come from
 * others.
 */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
