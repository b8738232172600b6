// The page of the audit log: actor, act, object and time of each entry; and whether the log is intact.
import { toActName } from '#acts/audit-words.ts';
import type { RecordsCheckResult } from '#acts/store/integrity.ts';
import { overseer } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { ConsoleAuditQuery } from '#contract/wire.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { readDateTime } from '#domain/date-time.ts';
import { Refusal } from '#domain/refusal.ts';
import { auditNames, readAuditPage, maxSearchedEntries, readOldestAuditPage } from '#operations/audit/audit-page.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, searchOf } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, distance, time } from '../parts/values.ts';
import { readRecordsProof } from '../store/records-proof.ts';
import { screen } from '../screen.ts';

const address = '/console/audit';

export const consoleAudit = screen({
  name: 'console_audit',
  path: address,
  summary: 'Show the audit log, newest entry first, and whether it is intact.',
  access: overseer('auditor'),
  refuses: ['forbidden'],
  query: 'ConsoleAuditQuery',

  async show({ query, records, now }) {
    const { sort = '' } = query;
    const page = await pageOf(records, query);
    const names = await namesOf(records, page.entries);
    return {
      title: 'Audit',
      lead: await leadOf(records, now()),
      content: html`${searchOf(address, 'found', fieldsOf(query), sort)}
        <div id="found">
          ${table({
            caption: 'What was done',
            columns: [
              {
                heading: 'Number',
                sort: { key: 'number', largestFirst: true },
                cell: ({ seq }: AuditRow) => count(seq),
              },
              { heading: 'When', cell: ({ at }) => time(at) },
              { heading: 'Who', cell: ({ actor }) => whoCell(actor, names) },
              { heading: 'Act', cell: actCell },
              { heading: 'To what', cell: ({ object }) => objectCell(object) },
              { heading: 'Details', cell: detailsCell },
            ],
            rows: page.entries,
            sorting: {
              order: sort === '' ? '-number' : sort,
              address: (sort) => withQuery(address, { ...narrowedBy(query), sort }),
            },
            empty:
              page.next === undefined
                ? 'The audit log has no such entry.'
                : `There is no such entry among the ${count(maxSearchedEntries.byPeople)} that were searched.`,
          })}
          ${page.next === undefined ? nothing : further(query, page)}
        </div>
        ${await wholeness(records)}`,
    };
  },
});

/** A page in the requested order; newest first by default. */
const pageOf = (records: HandlerRecords, query: ConsoleAuditQuery) =>
  query.sort === 'number'
    ? readOldestAuditPage(records, soughtBy(query), {
        after: Number(query.before ?? '0'),
        size: pageSize,
        look: maxSearchedEntries.byPeople,
      })
    : readAuditPage(records, soughtBy(query), {
        before: query.before === undefined ? Number.MAX_SAFE_INTEGER : Number(query.before),
        size: pageSize,
        look: maxSearchedEntries.byPeople,
      });

/** The filter of a query; a day ends at midnight UTC. */
function soughtBy({ actor, act, object, from, to }: ConsoleAuditQuery) {
  const [since, last] = [dayOf('from', from), dayOf('to', to)];
  return {
    actor: unlessEmpty(actor),
    action: unlessEmpty(act),
    object: unlessEmpty(object),
    from: since && timestamp(since),
    to: last && timestamp(after(last, days(1))),
  };
}

const unlessEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function dayOf(name: string, text: string | undefined): Date | undefined {
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

const narrowedBy = ({ actor, act, object, from, to }: ConsoleAuditQuery) => ({ actor, act, object, from, to });

function further(query: ConsoleAuditQuery, { entries, next }: { entries: unknown[]; next?: unknown }) {
  const [further, preposition] =
    query.sort === 'number' ? ['Look further on', 'after'] : ['Look further back', 'before'];
  const words = entries.length < pageSize ? `${further}, ${preposition} entry ${String(next)}` : 'Next page';
  return nextPage(withQuery(address, { ...narrowedBy(query), sort: query.sort, before: String(next) }), words);
}

/** The user names of actors with an account. An account id is unique, so no other actor can pass for an account. */
async function namesOf({ accounts }: Pick<HandlerRecords, 'accounts'>, rows: readonly AuditRow[]) {
  const accountsById = await accounts.byIds(rows.map(({ actor }) => actor));
  return new Map([...accountsById].map(([id, { username }]) => [id, username]));
}

const whoCell = (actor: string, names: ReadonlyMap<string, string>): HtmlContent =>
  html`<a href="${withQuery(address, { actor })}">${names.get(actor) ?? html`<code>${actor}</code>`}</a>`;

const actCell = ({ action, outcome }: AuditRow): HtmlContent =>
  html`<a href="${withQuery(address, { act: toActName(action) })}">${toActName(action)}</a>
    ${outcome === 'refused' ? badge('note', 'refused') : nothing}`;

const objectCell = (object: string): HtmlContent => html`<a href="${withQuery(address, { object })}">${object}</a>`;

const detailsCell = ({ seq, actor, details, hash, sessionId, requestId }: AuditRow): HtmlContent =>
  html`<details>
    <summary><span class="hint">${summaryOf(details)}</span><span class="unseen"> of entry ${seq}</span></summary>
    <pre tabindex="0">${details === '{}' ? 'No details.' : JSON.stringify(JSON.parse(details), null, 1)}</pre>
    ${facts([
      ['Who', html`<code>${actor}</code>`],
      sessionId === null ? undefined : ['Session', html`<code>${sessionId}</code>`],
      requestId === null ? undefined : ['Request', html`<code>${requestId}</code>`],
      ['Hash', html`<code>${hash}</code>`],
    ])}
  </details>`;

/** The names of the details of an entry. */
function summaryOf(details: string): string {
  const names = Object.keys(JSON.parse(details) as object).join(', ');
  return names === '' ? 'Nothing more' : names.length > 60 ? `${names.slice(0, 59)}…` : names;
}

async function leadOf(records: HandlerRecords, now: Date): Promise<HtmlContent> {
  const proof = await readRecordsProof(records);
  if (proof === undefined) return 'The log has not been verified yet. The store does this soon after it starts.';
  if (proof.problems === 0) return `The log was intact at its last verification, ${distance(proof.at, now)}.`;
  return (
    `The last verification of the records, ${distance(proof.at, now)}, found a problem: ` +
    `${proof.first ?? 'see the recovery guide'}.`
  );
}

async function wholeness(records: HandlerRecords): Promise<Html> {
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
    <pre tabindex="0">larder audit verify${text === undefined ? nothing : ` --head ${text}`}</pre>
    <h2>Export</h2>
    <p>To write the whole log to a file, one entry per line, run on the host:</p>
    <pre tabindex="0">larder audit export ./audit.jsonl</pre>
    <p>Programs read the log page by page with <code>GET /internal/v1/audit</code> and a token.</p>`;
}

const proofBadge = ({ problems }: RecordsCheckResult): Html =>
  problems === 0 ? badge('good', 'nothing wrong') : badge('warn', `${count(problems)} wrong`);
