// The page with the subscriptions of this site and its last request.
import { overseer } from '#access/access-rules.ts';
import { html } from '#http/pages/html.ts';
import { placeOf } from '#operations/page.ts';
import { writeCursor } from '#operations/cursor.ts';
import type { Subscription } from '#records/sites/subscriptions.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { count, distance, exactTime, size } from '../parts/values.ts';
import { screen } from '../screen.ts';

export const consoleRequests = screen({
  name: 'console_requests',
  path: '/console/carry/requests',
  summary: 'List the subscriptions of this site, and show its last request.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ query, records, now }) {
    const [namespace, name] = placeOf(query, ['', ''] as const);
    const subscriptions = await records.subscriptions.after(namespace, name, pageSize + 1);
    const shown = subscriptions.slice(0, pageSize);
    const last = shown.at(-1);
    const request = await records.requests.newest();
    const who = await readActorLabels([request?.madeBy ?? null], records);
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
          empty: html`There are no subscriptions. Add one on the host: <code>larder subscription add snap/hello</code>`,
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
        <p>
          Insert a USB stick into the host and run <code>larder transfer request /media/stick</code>. The command shows
          all data that leaves the site and writes it. With <code>--dry-run</code> it only shows the data.
        </p>`,
    };
  },
});
