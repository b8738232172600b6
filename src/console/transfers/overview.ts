// The overview page of transfers: outgoing and incoming transfers, trusted sites, and missing packages.
import { siteNameSetting } from '#acts/sites/sites.ts';
import { overseer } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { ExaminationResult, Services } from '#http/services.ts';
import type { RequestProvenance } from '#contract/wire.ts';
import { days } from '#domain/clock.ts';
import type { Browsing } from '#macaroons/authority.ts';
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
import { count, formatCount, distance, exactTime, identifier, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOfTransfer, transferBadge } from './transfer-parts.ts';
import { transferUploadForm } from './upload-form.ts';
import { keyRequestForm } from '../keys/key-request.ts';
import { signingKeyAddress } from '../keys/signing-key.ts';
import { hostCommand } from '../parts/host-command.ts';

export const consoleCarry = screen({
  name: 'console_carry',
  path: '/console/carry',
  summary: 'Show incoming transfers, outgoing requests, missing packages and trusted sources.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ query, principal, browsing, records, transfers, config, now, examined, authorityCertificate }) {
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
      subscriptionCount: (await records.subscriptions.after('', '', maxCounted)).length,
      keys: await requestedKeys(records, moment),
      browsing,
      canExport: principal.storeAdministrator,
      hasAuthority: authorityCertificate() !== undefined,
      declarations: await transfers.declarations(),
      lastIn: await records.transfers.lastSettled(),
    };
    return {
      title: 'Transfers',
      lead: leadOf(waiting, out),
      content: html`${renderLateness(out)} ${cameIn(came, who)}
      ${nextPage(received.length > pageSize && last !== undefined ? `/console/carry?cursor=${writeCursor([last.receivedAt, last.id])}` : undefined)}
      ${
        principal.storeAdministrator
          ? html`<h3>Upload</h3>
              ${transferUploadForm(browsing, config)}`
          : nothing
      }
      ${goesOut(out)} ${keysOut(out)} ${declarationsOut(out.declarations)} ${missing(await examined())}
      ${renderTrustedSources(await records.transferSources.list())}`,
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
  subscriptionCount: number;
  keys: readonly RequestedKey[];
  browsing: Browsing;
  /** Whether the reader is a store administrator. */
  canExport: boolean;
  /** Whether clients trust an authority that the store gives at /ca.pem. */
  hasAuthority: boolean;
  declarations: readonly RequestProvenance[];
  lastIn: string | null;
}

function leadOf(waiting: number, { keys, declarations }: OutgoingOverview): string {
  const out = keys.length + declarations.length;
  const came =
    waiting === 0
      ? 'No transfer waits for a decision'
      : `${formatCount(waiting, 'transfer')} ${waiting === 1 ? 'waits' : 'wait'} for a decision`;
  return `${came}, and ${out === 0 ? 'nothing waits for the online store' : `${formatCount(out, 'thing')} to take to the online store`}.`;
}

/** Whether the expected transfers from other sites arrive. */
function renderLateness({ expected, lastIn, now }: OutgoingOverview): Html {
  if (expected === undefined) return nothing;
  const expectation = html`and a transfer is expected every ${formatCount(expected, 'day')}
  (<code>transfers.expected_days</code>)`;
  if (lastIn === null) return notice('note', html`No transfer has been accepted yet, ${expectation}.`);
  const since = Math.floor((now.getTime() - Date.parse(lastIn)) / days(1));
  return since < expected
    ? html`<p>The last transfer was accepted at ${exactTime(lastIn)}, ${distance(lastIn, now)}, ${expectation}.</p>`
    : notice(
        'note',
        html`The last transfer was accepted ${formatCount(since, 'day')} ago, ${expectation}. Make a request, see below.`,
      );
}

const cameIn = (rows: ReceivedTransfer[], who: OutgoingOverview['who']): Html =>
  html`<h2>Incoming</h2>
    ${table<ReceivedTransfer>({
      caption: 'Received transfers, newest first',
      empty: html`No transfer has been received yet. A store administrator uploads one on this page, or runs
        <code>larder transfer receive /media/stick</code> on the host.`,
      rows,
      columns: [
        {
          heading: 'Transfer',
          cell: ({ id, source, sequence }) =>
            html`<a href="${addressOfTransfer(id)}">${count(sequence)} of ${source}</a>`,
        },
        { heading: 'State', cell: (transfer) => transferBadge(transfer) },
        {
          heading: 'Received',
          cell: ({ receivedAt }) => time(receivedAt),
        },
        {
          heading: 'Settled',
          cell: ({ settledAt, settledBy }) =>
            settledAt === null ? 'not yet' : html`<span>${time(settledAt)}, by ${who(settledBy)}</span>`,
        },
      ],
    })}`;

function goesOut({ request, who, site, now, subscriptionCount, canExport, hasAuthority }: OutgoingOverview): Html {
  const last =
    request === undefined
      ? html`No request has been made yet.`
      : html`The last request is number ${count(request.number)}, of ${size(request.bytes)}: made
        ${exactTime(request.madeAt)}, ${distance(request.madeAt, now)}, by ${who(request.madeBy)}.`;
  return html`<h2>Outgoing</h2>
    <p>
      This site has subscriptions to
      ${subscriptionCount === maxCounted ? 'a thousand packages or more' : formatCount(subscriptionCount, 'package')}
      (<a href="/console/carry/requests">which</a>). ${last}
    </p>
    ${
      site === undefined
        ? html`<p>
            The site has no name yet and cannot sign requests. Name it with <code>larder site init NAME</code> on the
            host.
          </p>`
        : html`<p>
              A request of the site ${site} is a file: download it after its preview, or write it onto a USB stick on
              the host.
            </p>
            ${canExport ? html`<p><a class="button" href="/console/carry/requests/preview">Preview the next request</a></p>` : nothing}
            ${hostCommand('larder transfer request /media/stick')}`
    }
    ${
      hasAuthority
        ? html`<p hx-boost="false">
            Tools and devices trust this store by its authority: <a href="/ca.pem" download>download ca.pem</a>.
          </p>`
        : nothing
    }`;
}

const keysOut = ({ keys, browsing, canExport }: Pick<OutgoingOverview, 'keys' | 'browsing' | 'canExport'>): Html =>
  keys.length === 0
    ? nothing
    : html`<h3>Keys to register</h3>
        ${table<RequestedKey>({
          caption: 'Signing keys with a registration request and no account-key yet',
          empty: '',
          rows: keys.slice(0, pageSize),
          columns: [
            {
              heading: 'Key',
              cell: (key) => (canExport ? html`<a href="${signingKeyAddress(key)}">${key.name}</a>` : key.name),
            },
            { heading: 'Brand', cell: ({ brandAccountId }) => identifier(brandAccountId) },
            { heading: 'Requested', cell: ({ requestedAt }) => time(requestedAt) },
            {
              heading: 'On the host',
              cell: ({ name, brandAccountId }) =>
                html`<code>larder key request ${name} --brand ${brandAccountId} --folder ./to-the-internet</code>`,
            },
            ...(canExport ? [{ heading: 'Here', cell: (key: RequestedKey) => keyRequestForm(browsing, key) }] : []),
          ],
        })}
        <p>
          The page of a key takes its answer in, as does <code>larder assertion import return.assert</code> on the host.
        </p>`;

const declarationsOut = (some: readonly RequestProvenance[]): Html =>
  some.length === 0
    ? nothing
    : html`<h3>Declarations to change</h3>
        <p>
          Revisions of these snaps wait for a signature of this site. Their publisher must allow these accounts to sign,
          at the online store. Then fetch and import the new declaration with
          <code>snap known --remote snap-declaration series=16 snap-id=ID</code> and
          <code>larder assertion import</code>.
        </p>
        ${table<RequestProvenance>({
          caption: 'Snaps that accounts of this site must be allowed to sign',
          empty: '',
          rows: some.slice(0, pageSize),
          columns: [
            { heading: 'Snap', cell: ({ name }) => name },
            { heading: 'Id', cell: ({ id }) => identifier(id) },
            { heading: 'Provenance', cell: ({ provenance }) => provenance },
            { heading: 'Accounts', cell: ({ accounts }) => html`<code>${accounts.slice(0, 10).join(', ')}</code>` },
          ],
        })}`;

/** The result of the examination of the closure: packages that packages here need. */
function missing(examinations: readonly ExaminationResult[]): Html {
  const closure = examinations.find(({ what: name }) => name === 'Closure');
  return html`<h2>Missing packages</h2>
    ${closure === undefined ? nothing : html`<div class="cards">${card(toCard(closure))}</div>`}
    <p class="hint">
      <code>larder closure</code> on the host lists the dependencies of each package. A request includes the missing
      ones.
    </p>`;
}

const renderTrustedSources = (sources: readonly TransferSource[]): Html =>
  html`<h2>Trusted sources</h2>
    ${table<TransferSource>({
      caption: 'Trusted sources with their keys and allowed packages',
      empty: html`No source is trusted yet. A store administrator trusts one under <a href="/console/sites">Sites</a>,
        with the file that <code>larder site show --export FILE</code> writes there.`,
      rows: sources.slice(0, pageSize),
      columns: [
        { heading: 'Source', cell: ({ name }) => name },
        {
          heading: 'Keys',
          cell: ({ threshold, keys }) =>
            html`<span
              >${count(threshold)} of ${count(keys.length)}: ${fingerprintOf(keys).map((key) => identifier(key))}</span
            >`,
        },
        {
          heading: 'Allowed packages',
          cell: ({ packages, mayRelease }) => `${packages.join(', ')}${mayRelease ? '' : ', without releases'}`,
        },
        {
          heading: 'Last accepted',
          cell: ({ floor, floorInDoubt }) =>
            `${floor === 0 ? 'nothing yet' : `number ${count(floor)}`}${floorInDoubt ? ', uncertain since a restore' : ''}`,
        },
      ],
    })}`;
