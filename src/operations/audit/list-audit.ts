import { toActName } from '#acts/audit-words.ts';
import { overseer } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { numberBefore, pageSize } from '../page.ts';
import { writeCursor } from '../cursor.ts';
import { readAuditPage, maxSearchedEntries } from './audit-page.ts';

export const listAudit = operation({
  name: 'list_audit',
  method: 'GET',
  path: '/internal/v1/audit',
  since: 0,
  summary: 'List the audit log, newest entry first, page by page: actor, act, object and outcome.',
  access: overseer('auditor'),
  query: 'ListAuditQuery',
  response: 'ListAuditResponse',

  async handle({ query, records }) {
    const { actor, action, object, from, to } = query;
    const between = { from: from && timestamp(new Date(from)), to: to && timestamp(new Date(to)) };
    const place = { before: numberBefore(query), size: pageSize(query), look: maxSearchedEntries.byPrograms };
    const { entries, next } = await readAuditPage(records, { actor, action, object, ...between }, place);
    return { entries: entries.map(present), 'next-cursor': next === undefined ? null : writeCursor([String(next)]) };
  },
});

const present = (row: AuditRow) => ({
  seq: row.seq,
  at: row.at,
  actor: row.actor,
  'session-id': row.sessionId,
  act: toActName(row.action),
  action: row.action,
  object: row.object,
  outcome: row.outcome ?? ('done' as const),
  'request-id': row.requestId,
  details: JSON.parse(row.details) as Record<string, unknown>,
  hash: row.hash,
});
