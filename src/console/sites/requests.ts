// The page with the subscriptions of this site and its last request, and the next request as a preview and as a file.
import { siteNameSetting } from '#acts/sites/sites.ts';
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import { OperationResponse } from '#http/operation.ts';
import { html, nothing } from '#http/pages/html.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { caller } from '#operations/caller.ts';
import { placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import type { Subscription } from '#records/sites/subscriptions.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { isAutomaticRefresh } from '../parts/auto-refresh.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { hostCommand } from '../parts/host-command.ts';
import { count, distance, exactTime, size } from '../parts/values.ts';
import { formOf } from '../parts/form.ts';
import { formHandler, screen } from '../screen.ts';
import { renewedSessionHeader } from '../session-headers.ts';
import { renderReport } from '../transfers/report-lists.ts';

const previewAddress = '/console/carry/requests/preview';

export const consoleRequests = screen({
  name: 'console_requests',
  path: '/console/carry/requests',
  summary: 'List the subscriptions of this site, and show its last request.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ query, principal, records, now }) {
    const [namespace, name] = placeOf(query, ['', ''] as const);
    const subscriptions = await records.subscriptions.after(namespace, name, pageSize + 1);
    const shown = subscriptions.slice(0, pageSize);
    const last = shown.at(-1);
    const request = await records.requests.newest();
    const who = await readActorLabels([request?.madeBy ?? null], records);
    const site = await records.appliance.find(siteNameSetting);
    return {
      title: 'Requests',
      lead:
        request === undefined
          ? 'No request has been made yet.'
          : html`Request ${count(request.number)} was made last: ${exactTime(request.madeAt)},
            ${distance(request.madeAt, now())}, by ${who(request.madeBy)}, ${size(request.bytes)}.`,
      content: html`<h2>Subscriptions</h2>
        ${table<Subscription>({
          caption: 'Packages that this site requests, by channel and architecture',
          empty: html`There are no subscriptions. <a href="/console/subscriptions">Subscribe to packages</a>.`,
          rows: shown,
          columns: [
            { heading: 'Package', cell: (subscription) => `${subscription.namespace}/${subscription.name}` },
            { heading: 'Channels', cell: ({ channels }) => channels.join(', ') },
            { heading: 'Architectures', cell: ({ architectures }) => architectures.join(', ') },
            { heading: 'Because of', cell: ({ because }) => because ?? 'a subscription' },
          ],
        })}
        ${nextPage(subscriptions.length > pageSize && last !== undefined ? `/console/carry/requests?cursor=${writeCursor([last.namespace, last.name])}` : undefined)}
        <h2>Make a request</h2>
        ${site !== undefined && principal.storeAdministrator ? html`<p><a class="button" href="${previewAddress}">Preview the next request</a></p>` : nothing}
        ${hostCommand('larder transfer request /media/stick', 'The same on the host, onto a USB stick; with --dry-run it only shows the data that leaves the site:')}`,
    };
  },
});

const requestFileType = 'application/x-tar';

export const consolePreviewRequest = screen({
  name: 'console_preview_request',
  path: previewAddress,
  summary: 'Show everything that the next request of this site would say.',
  access: storeAdministrator('store-manage'),
  refuses: ['resource-not-found', 'conflict', 'sealed', 'shutting-down'],

  async show(call) {
    const report = await call.transfers.previewRequest(caller(call), { continues: isAutomaticRefresh(call.request) });
    if (report === undefined)
      return {
        title: 'The next request',
        lead: 'The store reads all of its released packages.',
        content: html`<p><a class="button" href="${previewAddress}">Show the preview</a></p>`,
        moves: true,
      };
    return {
      title: report.title,
      lead: 'All of this leaves the site with the request.',
      content: html`<div hx-boost="false">
          ${formOf(call.browsing, previewAddress, html`<button>Make the request and download it</button>`)}
        </div>
        <p class="hint">
          Carry the file to a machine that is online and run <code>larder transfer fetch</code> there, or to a site that
          makes transfers. The request lists the imported contents; the options of
          <code>larder transfer request</code> on the host change that.
        </p>
        ${renderReport(report)}`,
    };
  },
});

export const consoleMakeRequest = formHandler({
  name: 'console_make_request',
  path: previewAddress,
  summary: 'Make a request of this site, and download its file. The audit log records the export.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',
  file: requestFileType,
  refuses: ['resource-not-found', 'conflict', 'sealed', 'shutting-down'],

  async perform(call) {
    const { name, bytes } = await call.transfers.makeRequest(caller(call));
    return new OperationResponse({
      headers: {
        'content-type': requestFileType,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...attachment(name),
        ...renewedSessionHeader(call),
      },
      body: bytes,
    });
  },
});
