// The page of the audit log: entries as sentences with their details, how to export them, and whether the log is intact.
import { Readable } from 'node:stream';

import { toActName } from '#acts/audit-words.ts';
import { exportAudit } from '#acts/audit/exports.ts';
import type { RecordsCheckResult } from '#acts/store/integrity.ts';
import { overseer } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { OperationResponse } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { ConsoleAuditQuery } from '#contract/wire.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { readDateTime } from '#domain/date-time.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { auditLines, measureAuditLines } from '#operations/audit/audit-export.ts';
import { auditNames, readAuditPage, maxSearchedEntries, readOldestAuditPage } from '#operations/audit/audit-page.ts';
import { caller } from '#operations/caller.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, formOf, searchOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { badge } from '../parts/notice.ts';
import { emptyState, facts, nextPage, pageSize } from '../parts/table.ts';
import { timeline, type TimelineEvent } from '../parts/timeline.ts';
import { count, distance, identifier, time } from '../parts/values.ts';
import { readRecordsProof } from '../store/records-proof.ts';
import { formHandler, screen } from '../screen.ts';
import { toTimelineEvents } from './sentences.ts';

const address = '/console/audit';

export const consoleAudit = screen({
  name: 'console_audit',
  path: address,
  summary: 'Show the audit log, newest entry first, and whether it is intact.',
  access: overseer('auditor'),
  refuses: ['forbidden'],
  query: 'ConsoleAuditQuery',

  async show({ query, records, principal, browsing, now }) {
    const { sort = '' } = query;
    const page = await pageOf(records, query);
    return {
      title: 'Audit log',
      lead: await leadOf(records, now()),
      content: html`${searchOf(address, 'found', fieldsOf(query), sort)}
        <div id="found">
          <div class="row">
            <h2>${isNarrowed(query) ? 'Matching entries' : 'What was done'}</h2>
            ${orderLink(query)}
          </div>
          ${page.entries.length === 0 ? emptyState(describeEmptyList(page.next)) : timeline(await eventsOf(records, page.entries, principal.storeAdministrator))}
          ${page.next === undefined ? nothing : further(query, page)}
        </div>
        ${exportForm(browsing, query, now())} ${await renderIntegrity(records)}`,
    };
  },
});

const isNarrowed = (query: ConsoleAuditQuery): boolean =>
  Object.values(selectFilter(query)).some((text) => (text ?? '') !== '');

/** The link to the other order. */
function orderLink(query: ConsoleAuditQuery): Html {
  const isOldestFirst = query.sort === 'number';
  const to = withQuery(address, { ...selectFilter(query), sort: isOldestFirst ? '' : 'number' });
  return html`<a id="sort-number" href="${to}" hx-swap="innerHTML show:none"
    >${isOldestFirst ? 'Show the newest first' : 'Show the oldest first'}</a
  >`;
}

const describeEmptyList = (next: number | undefined): string =>
  next === undefined
    ? 'The audit log has no such entry.'
    : `There is no such entry among the ${count(maxSearchedEntries.byPeople)} that were searched.`;

/** The entries as sentences, each with its details. */
async function eventsOf(
  records: HandlerRecords,
  rows: readonly AuditRow[],
  administers: boolean,
): Promise<TimelineEvent[]> {
  const events = await toTimelineEvents(records, rows, administers);
  return events.map((event, at) => ({ ...event, details: rows[at] === undefined ? '' : detailsOf(rows[at]) }));
}

/** A page in the requested order; newest first by default. */
const pageOf = (records: HandlerRecords, query: ConsoleAuditQuery) =>
  query.sort === 'number'
    ? readOldestAuditPage(records, toFilter(query), {
        after: Number(query.before ?? '0'),
        size: pageSize,
        look: maxSearchedEntries.byPeople,
      })
    : readAuditPage(records, toFilter(query), {
        before: query.before === undefined ? Number.MAX_SAFE_INTEGER : Number(query.before),
        size: pageSize,
        look: maxSearchedEntries.byPeople,
      });

/** The filter of a query; a day ends at midnight UTC. */
function toFilter({ actor, act, object, from, to }: ConsoleAuditQuery) {
  const [since, last] = [parseDay('from', from), parseDay('to', to)];
  return {
    actor: unlessEmpty(actor),
    action: unlessEmpty(act),
    object: unlessEmpty(object),
    from: since && timestamp(since),
    to: last && timestamp(after(last, days(1))),
  };
}

const unlessEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function parseDay(name: string, text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const day = readDateTime(`${text}T00:00:00Z`);
  if (day !== undefined) return day;
  throw new Refusal('api-error', `'${text}' is no day such as 2026-03-01 at /${name}`);
}

const fieldsOf = ({ actor, act, object, from, to }: ConsoleAuditQuery): Html =>
  html`${field({ name: 'actor', label: 'Who', type: 'search', value: actor, maxLength: 128 })}
    ${choice({ name: 'act', label: 'Act', value: act && toActName(act) }, [['', 'Any act'], ...auditNames.map((name) => [name, name] as const)])}
    ${field({ name: 'object', label: 'To what', type: 'search', value: object, maxLength: 512 })}
    ${field({ name: 'from', label: 'From the day', type: 'date', value: from, maxLength: 10 })}
    ${field({ name: 'to', label: 'To the day', type: 'date', value: to, maxLength: 10 })}
    <button class="second">Search</button>`;

const selectFilter = ({ actor, act, object, from, to }: ConsoleAuditQuery) => ({ actor, act, object, from, to });

function further(query: ConsoleAuditQuery, { entries, next }: { entries: unknown[]; next?: unknown }) {
  const [further, preposition] =
    query.sort === 'number' ? ['Look further on', 'after'] : ['Look further back', 'before'];
  const words = entries.length < pageSize ? `${further}, ${preposition} entry ${String(next)}` : 'Next page';
  return nextPage(withQuery(address, { ...selectFilter(query), sort: query.sort, before: String(next) }), words);
}

/** The fields of an entry as they are in the log; each of the first three leads to the entries with the same value. */
const detailsOf = ({ seq, action, actor, object, details, hash, sessionId, requestId }: AuditRow): HtmlContent =>
  html`<summary>Details<span class="unseen"> of entry ${seq}</span></summary>
    ${facts([
      ['Entry', count(seq)],
      ['Who', html`<a href="${withQuery(address, { actor })}">${actor}</a>`],
      ['Act', html`<a href="${withQuery(address, { act: toActName(action) })}">${toActName(action)}</a>`],
      ['To what', html`<a href="${withQuery(address, { object })}">${object}</a>`],
      sessionId === null ? undefined : ['Session', identifier(sessionId)],
      requestId === null ? undefined : ['Request', identifier(requestId)],
      ['Hash', identifier(hash)],
    ])}
    ${details === '{}' ? nothing : html`<pre tabindex="0">${JSON.stringify(JSON.parse(details), null, 1)}</pre>`}`;

async function leadOf(records: HandlerRecords, now: Date): Promise<HtmlContent> {
  const proof = await readRecordsProof(records);
  if (proof === undefined) return 'The log has not been verified yet. The store does this soon after it starts.';
  if (proof.problems === 0) return `The log was intact at its last verification, ${distance(proof.at, now)}.`;
  return (
    `The last verification of the records, ${distance(proof.at, now)}, found a problem: ` +
    `${proof.first ?? 'see the recovery guide'}.`
  );
}

async function renderIntegrity(records: HandlerRecords): Promise<Html> {
  const [head, seal, proof] = await Promise.all([
    records.audit.head(),
    records.auditSeals.newest(),
    readRecordsProof(records),
  ]);
  const text = head === undefined ? undefined : `${String(head.seq)}:${head.hash}`;
  return html`<h2>Integrity</h2>
    <p>
      Each entry contains the hash of the entry before it, and the store seals the head of this chain with a key. Copy
      the head to another machine from time to time: without such a copy, the store cannot detect that all its data was
      reset to an earlier state.
    </p>
    ${facts([
      ['Head', text === undefined ? 'The log is empty.' : html`<code>${text}</code>`],
      ['Last seal', seal === undefined ? 'None yet' : html`entry ${count(seal.seq)}, of ${time(seal.at)}`],
      ['Last verified', proof === undefined ? 'Not yet' : html`${time(proof.at)} ${proofBadge(proof)}`],
    ])}
    <p>To verify the log from the first entry to this head, run on the host:</p>
    <pre tabindex="0">larder audit verify${text === undefined ? nothing : ` --head ${text}`}</pre>`;
}

const exportAddress = `${address}/export`;

/** The form and the commands that write the log to a file; the store records each as an export. */
const exportForm = (browsing: Browsing, { from }: ConsoleAuditQuery, now: Date): Html =>
  html`<h2>Export</h2>
    <p>The file has every entry as one JSON document a line, oldest first. The log records the export.</p>
    <div hx-boost="false">
      ${formOf(
        browsing,
        exportAddress,
        html`${field({
            name: 'after',
            label: 'Only entries after this number',
            maxLength: 15,
            inputMode: 'numeric',
            hint: 'The last number of your previous export; empty for all entries.',
          })} <button>Download the log</button>`,
      )}
    </div>
    ${hostCommand('larder audit export ./audit.jsonl')}
    ${hostCommand(
      `larder audit report --from ${unlessEmpty(from) ?? timestamp(now).slice(0, 8) + '01'} --csv ./audit.csv`,
      'A period as CSV for a spreadsheet, on the host:',
    )}
    <p>Programs read the log page by page with <code>GET /internal/v1/audit</code> and a token.</p>`;

const linesType = 'application/jsonl';

export const consoleExportAudit = formHandler({
  name: 'console_export_audit',
  path: exportAddress,
  summary: 'Download the audit log. The log records the export.',
  access: overseer('auditor'),
  body: 'ConsoleAuditExport',
  file: linesType,
  refuses: ['conflict'],

  async perform(call) {
    const { body, records, acts } = call;
    const span = { after: Number(body.after.trim()), last: (await records.audit.head())?.seq ?? 0 };
    if (span.after >= span.last) throw new Refusal('conflict', `The last entry is ${String(span.last)}.`);
    // The export is recorded before its first byte leaves, so the log cannot miss one. The entries are read twice for that.
    const measured = await measureAuditLines(records.audit, span);
    await acts.do(exportAudit, caller(call), { first: span.after + 1, last: span.last, ...measured });
    return new OperationResponse({
      headers: {
        'content-type': linesType,
        'content-length': String(measured.bytes),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...attachment(`audit-${String(span.after + 1)}-${String(span.last)}.jsonl`),
      },
      body: Readable.from(textsOf(auditLines(records.audit, span)), { objectMode: false }),
    });
  },
});

async function* textsOf(batches: AsyncIterable<{ text: string }>): AsyncGenerator<string> {
  for await (const { text } of batches) yield text;
}

const proofBadge = ({ problems }: RecordsCheckResult): Html =>
  problems === 0 ? badge('good', 'nothing wrong') : badge('warn', `${count(problems)} wrong`);
