// larder audit list
import { toActName } from '#acts/audit-words.ts';
import { presentAudit } from '#operations/audit/audit-export.ts';
import { auditWordsFor } from '#operations/audit/audit-page.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

/** Rows per query. */
const batch = 1000;

export const auditList = command({
  name: 'audit list',
  summary: 'Show the newest entries of the audit log: who did what, to what, when, and how it ended.',
  description:
    'Every change is listed as done. Refused entries are logins that were blocked after too many failures. Other ' +
    'refusals change nothing; the log of the server and /metrics have them.',
  options: {
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 10_000,
      summary: 'The number of entries. Default: 20.',
    },
    before: { type: 'integer', value: 'SEQ', minimum: 1, maximum: 1e15 - 1, summary: 'Only entries before this one.' },
    actor: { type: 'string', value: 'WHO', summary: 'Only changes by this account, or by cli:USER.' },
    object: { type: 'string', value: 'WHAT', summary: 'Only changes of this object, such as snap/hello.' },
    action: {
      type: 'string',
      value: 'ACT',
      summary: 'Only entries of this act, such as register_name. Its name in an earlier release works too.',
    },
    outcome: {
      type: 'string',
      value: 'OUTCOME',
      choices: ['done', 'refused'],
      summary: 'Only entries with this outcome.',
    },
  },
  examples: [
    'larder audit list',
    'larder audit list --object snap/hello --limit 100',
    'larder audit list --actor cli:root --json',
    'larder audit list --outcome refused',
  ],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const { limit = 20, before = Number.MAX_SAFE_INTEGER, actor, object, action, outcome } = call.options;
      const words = action === undefined ? undefined : auditWordsFor(action, (problem) => new UsageError(problem));
      const matches = (row: AuditRow): boolean =>
        (actor ?? row.actor) === row.actor &&
        (object ?? row.object) === row.object &&
        (words === undefined || words.includes(row.action)) &&
        (outcome ?? outcomeOf(row)) === outcomeOf(row);
      const rows: AuditRow[] = [];
      for (let at = before; rows.length < limit;) {
        const some = await records.audit.newest(at, batch);
        for (const row of some) if (rows.length < limit && matches(row)) rows.push(row);
        at = some.at(-1)?.seq ?? 0;
        if (some.length < batch) break;
      }
      rows.reverse();
      return {
        text:
          rows.length === 0
            ? 'The audit log has no such entries.'
            : table(
                ['Seq', 'Time', 'Who', 'Action', 'Object', 'Outcome', 'Details'],
                rows.map((row) => [
                  ...[String(row.seq), row.at, row.actor, toActName(row.action), row.object],
                  ...[outcomeOf(row), short(row.details)],
                ]),
              ),
        json: { entries: rows.map((row) => ({ ...presentAudit(row), act: toActName(row.action) })) },
      };
    }),
});

const outcomeOf = ({ outcome }: AuditRow): string => outcome ?? 'done';

const short = (details: string): string =>
  details === '{}' ? '' : details.length > 80 ? `${details.slice(0, 79)}…` : details;
