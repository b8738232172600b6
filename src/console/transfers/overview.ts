// The overview page of transfers: outgoing and incoming transfers, trusted sites, and missing packages.
import { siteNameSetting } from '#acts/sites/sites.ts';
import { overseer } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { ExaminationResult, Services } from '#http/services.ts';
import type { RequestProvenance } from '#contract/wire.ts';
import { days } from '#domain/clock.ts';
import { placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import type { MadeRequest } from '#records/sites/requests.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { requestedKeys, type RequestedKey } from '#transfers/request/requested-keys.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { toCard } from '../store/store-state.ts';
import { card, notice } from '../parts/notice.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { count, formatCount, distance, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOfTransfer, transferBadge } from './transfer-parts.ts';

export const consoleCarry = screen({
  name: 'console_carry',
  path: '/console/carry',
  summary: 'Show what must go out, what came in, what is missing, and which sources are believed.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ query, records, transfers, config, now, examined }) {
    const moment = now();
    const [receivedAt, id] = placeOf(query, ['~', ''] as const);
    const received = await records.transfers.before({ receivedAt, id }, pageSize + 1);
    const came = received.slice(0, pageSize);
    const last = came.at(-1);
    const waiting = (await records.transfers.waiting(maxCounted)).length;
    const request = await records.requests.newest();
    const who = await readActorLabels([request?.madeBy ?? null, ...came.map(({ settledBy }) => settledBy)], records);
    const site = await records.appliance.find(siteNameSetting);
    const out = {
      request,
      who,
      site,
      now: moment,
      expected: config.transfers.expected_days,
      wishes: (await records.subscriptions.after('', '', maxCounted)).length,
      keys: await requestedKeys(records, moment),
      declarations: await transfers.declarations(),
      lastIn: await records.transfers.lastSettled(),
    };
    return {
      title: 'Carry',
      lead: leadOf(waiting, out),
      content: html`${lateness(out)} ${cameIn(came, who, moment)}
      ${nextPage(received.length > pageSize && last !== undefined ? `/console/carry?cursor=${writeCursor([last.receivedAt, last.id])}` : undefined)}
      ${goesOut(out)} ${keysOut(out.keys)} ${declarationsOut(out.declarations)} ${missing(await examined())}
      ${believed(await records.transferSources.list())}`,
    };
  },
});

/** The maximum of a count; larger numbers are not counted exactly. */
const maxCounted = 1000;

interface OutgoingOverview {
  request: MadeRequest | undefined;
  who: (actor: string | null) => string;
  site: string | undefined;
  now: Date;
  /** A transfer is late after this many days. */
  expected: Services['config']['transfers']['expected_days'];
  wishes: number;
  keys: readonly RequestedKey[];
  declarations: readonly RequestProvenance[];
  lastIn: string | null;
}

function leadOf(waiting: number, { keys, declarations }: OutgoingOverview): string {
  const out = keys.length + declarations.length;
  const came =
    waiting === 0 ? 'No transfer waits to be let in' : `${formatCount(waiting, 'transfer')} to be let in or not`;
  return `${came}, and ${out === 0 ? 'nothing waits for the online store' : `${formatCount(out, 'thing')} to be carried to the online store`}.`;
}

/** Whether the expected transfers from other sites arrive. */
function lateness({ expected, lastIn, now }: OutgoingOverview): Html {
  if (expected === undefined) return nothing;
  const expectation = html`and every ${formatCount(expected, 'day')} something should
  (<code>transfers.expected_days</code>)`;
  if (lastIn === null) return notice('note', html`Nothing was ever let in here, ${expectation}.`);
  const since = Math.floor((now.getTime() - Date.parse(lastIn)) / days(1));
  return since < expected
    ? html`<p>The last transfer was let in at ${time(lastIn)}, ${distance(lastIn, now)}, ${expectation}.</p>`
    : notice(
        'note',
        html`Nothing has come for ${formatCount(since, 'day')}, ${expectation}. Ask for it by a request, below.`,
      );
}

const cameIn = (rows: ReceivedTransfer[], who: OutgoingOverview['who'], now: Date): Html =>
  html`<h2>What came in</h2>
    ${table<ReceivedTransfer>({
      caption: 'Transfers that came in, the newest first',
      empty: html`No transfer came yet. On the host, with the stick or the disc in it:
        <code>larder transfer receive /media/stick</code>`,
      rows,
      columns: [
        {
          heading: 'Transfer',
          cell: ({ id, source, sequence }) =>
            html`<a href="${addressOfTransfer(id)}">${count(sequence)} of ${source}</a>`,
        },
        { heading: 'State', cell: (transfer) => transferBadge(transfer) },
        {
          heading: 'Came',
          cell: ({ receivedAt }) => html`<span>${time(receivedAt)}, ${distance(receivedAt, now)}</span>`,
        },
        {
          heading: 'Settled',
          cell: ({ settledAt, settledBy }) =>
            settledAt === null ? 'not yet' : html`<span>${time(settledAt)}, by ${who(settledBy)}</span>`,
        },
      ],
    })}`;

function goesOut({ request, who, site, now, wishes }: OutgoingOverview): Html {
  const last =
    request === undefined
      ? html`No request was made yet.`
      : html`The last request is number ${count(request.number)}, of ${size(request.bytes)}: made
        ${time(request.madeAt)}, ${distance(request.madeAt, now)}, by ${who(request.madeBy)}.`;
  return html`<h2>What must go out</h2>
    <p>
      This site wishes for ${wishes === maxCounted ? 'a thousand packages or more' : formatCount(wishes, 'package')} (<a
        href="/console/carry/requests"
        >which</a
      >). ${last}
    </p>
    ${
      site === undefined
        ? html`<p>
            It has no name yet, and signs nothing: <code>larder site init NAME</code> on the host gives it one.
          </p>`
        : html`<p>On the host, with a stick in it, as ${site}: <code>larder transfer request /media/stick</code></p>`
    }`;
}

const keysOut = (keys: readonly RequestedKey[]): Html =>
  keys.length === 0
    ? nothing
    : html`<h3>Keys to be registered</h3>
        ${table<RequestedKey>({
          caption: 'Signing keys whose registration was asked for, and whose account-keys have not come back',
          empty: '',
          rows: keys.slice(0, pageSize),
          columns: [
            { heading: 'Key', cell: ({ name }) => name },
            { heading: 'Of the brand', cell: ({ brandAccountId }) => html`<code>${brandAccountId}</code>` },
            { heading: 'Asked for', cell: ({ requestedAt }) => time(requestedAt) },
            {
              heading: 'On the host',
              cell: ({ name, brandAccountId }) =>
                html`<code>larder key request ${name} --brand ${brandAccountId} --folder ./to-the-internet</code>`,
            },
          ],
        })}
        <p>What comes back is taken in by <code>larder assertion import return.assert</code>.</p>`;

const declarationsOut = (some: readonly RequestProvenance[]): Html =>
  some.length === 0
    ? nothing
    : html`<h3>Declarations to be changed</h3>
        <p>
          Revisions of these wait to be signed here. At the online store their publisher lets these accounts sign, and
          the new declaration comes back by <code>snap known --remote snap-declaration series=16 snap-id=ID</code> and
          <code>larder assertion import</code>.
        </p>
        ${table<RequestProvenance>({
          caption: 'Snaps whose declaration must let accounts of this site sign',
          empty: '',
          rows: some.slice(0, pageSize),
          columns: [
            { heading: 'Snap', cell: ({ name }) => name },
            { heading: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
            { heading: 'Provenance', cell: ({ provenance }) => provenance },
            { heading: 'Accounts', cell: ({ accounts }) => html`<code>${accounts.slice(0, 10).join(', ')}</code>` },
          ],
        })}`;

/** The result of the examination of the closure: packages that packages here need. */
function missing(examinations: readonly ExaminationResult[]): Html {
  const closure = examinations.find(({ what: name }) => name === 'Closure');
  return html`<h2>What is missing</h2>
    ${closure === undefined ? nothing : html`<div class="cards">${card(toCard(closure))}</div>`}
    <p class="hint">
      <code>larder closure</code> on the host lists what each package here needs; a request asks for what is missing of
      it.
    </p>`;
}

const believed = (sources: readonly TransferSource[]): Html =>
  html`<h2>Sources that are believed</h2>
    ${table<TransferSource>({
      caption: 'Whose transfers come in, by which keys, and what they may bring',
      empty: html`No source is believed yet. On the host, with what <code>larder site show --export</code> wrote there:
        <code>larder site trust FILE --fingerprint FINGERPRINT</code>`,
      rows: sources.slice(0, pageSize),
      columns: [
        { heading: 'Source', cell: ({ name }) => name },
        {
          heading: 'Keys',
          cell: ({ threshold, keys }) =>
            html`<span
              >${count(threshold)} of ${count(keys.length)}: <code>${fingerprintOf(keys).join(', ')}</code></span
            >`,
        },
        {
          heading: 'May bring',
          cell: ({ packages, mayRelease }) => `${packages.join(', ')}${mayRelease ? '' : ', without releases'}`,
        },
        {
          heading: 'Last let in',
          cell: ({ floor, floorInDoubt }) =>
            `${floor === 0 ? 'nothing yet' : `number ${count(floor)}`}${floorInDoubt ? ', in doubt since a restore' : ''}`,
        },
      ],
    })}`;
