import { overseer } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { AuditRow } from '#records/audit.ts';
import { numberBefore, pageSize } from '../page.ts';
import { writeCursor } from '../cursor.ts';

/** How many entries are looked at for one page; who filters gets what was found among them, and goes on from there. */
const most = 500;

export const listAudit = operation({
  name: 'list_audit',
  method: 'GET',
  path: '/internal/v1/audit',
  since: 0,
  summary: 'List the audit log, the newest entry first, page by page: who did what, to what, and how it ended.',
  access: overseer('auditor'),
  query: 'ListAuditQuery',
  response: 'ListAuditResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const before = numberBefore(query);
    const { actor, action, object } = query;
    const isFiltered = actor !== undefined || action !== undefined || object !== undefined;
    const looked = await records.audit.newest(before, isFiltered ? most : size);
    const wanted = looked.filter(
      (row) =>
        (actor ?? row.actor) === row.actor &&
        (action ?? row.action) === row.action &&
        (object ?? row.object) === row.object,
    );
    const page = wanted.slice(0, size);
    const last = wanted.length > size ? page.at(-1) : looked.at(-1);
    const isEnd = last === undefined || last.seq <= 1;
    return { entries: page.map(present), 'next-cursor': isEnd ? null : writeCursor([String(last.seq)]) };
  },
});

const present = (row: AuditRow) => ({
  seq: row.seq,
  at: row.at,
  actor: row.actor,
  'session-id': row.sessionId,
  action: row.action,
  object: row.object,
  outcome: row.outcome ?? ('done' as const),
  'request-id': row.requestId,
  details: JSON.parse(row.details) as Record<string, unknown>,
  hash: row.hash,
});
