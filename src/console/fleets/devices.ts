// The pages of devices: the list of calling devices, and the revisions that one device reports.
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { ConsoleDevicesQuery } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import { deviceDays } from '#operations/packages/usage.ts';
import type { DeviceOrder, SeenDevice } from '#records/fleets/seen-devices.ts';
import { addressOf as packageAt } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { amountColumn, renderDayTable, renderDayChart, summarizeAmounts } from '../parts/day-charts.ts';
import { sortedPage } from '../parts/sorting.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { distance, exactTime, time } from '../parts/values.ts';
import { screen } from '../screen.ts';

export const consoleDevices = screen({
  name: 'console_devices',
  path: '/console/devices',
  summary: 'List the devices that the store remembers, with their last calls.',
  access: storeAdministrator('store-view'),
  query: 'ConsoleDevicesQuery',

  async show({ query, records, config, now }) {
    const { sort = '' } = query;
    const order = sort === '' ? 'brand' : sort;
    const { entries, next } = await devicesPage(records, order, query, timestamp(now()));
    return {
      title: 'Devices',
      lead: html`${
          config.devices.remember
            ? 'The devices that proved their serials to this store, with the time of their last call.'
            : 'The store does not remember devices (devices.remember is off).'
        } <a href="/console/fleets">To the fleets</a>`,
      content: html`${query.cursor === undefined && entries.length > 0 ? await callsByDay({ records, config, now }) : nothing}
      ${table<SeenDevice>({
        caption: 'Devices',
        columns: [
          {
            heading: 'Serial',
            sort: { key: 'serial' },
            cell: (device) => html`<a href="${addressOf(device)}">${device.serial}</a>`,
          },
          { heading: 'Brand', sort: { key: 'brand' }, cell: ({ brandId }) => html`<code>${brandId}</code>` },
          { heading: 'Model', sort: { key: 'model' }, cell: ({ model }) => model },
          { heading: 'First call', sort: { key: 'first', largestFirst: true }, cell: ({ firstAt }) => time(firstAt) },
          {
            heading: 'Last call',
            sort: { key: 'last', largestFirst: true },
            cell: ({ lastAt }) => html`${distance(lastAt, now())} <span class="hint">${exactTime(lastAt)}</span>`,
          },
        ],
        rows: entries,
        sorting: { order, address: (sort) => withQuery('/console/devices', { sort }) },
        empty: emptyList(config.devices),
      })}
      ${nextPage(next && withQuery('/console/devices', { sort, cursor: next }))}`,
    };
  },
});

async function devicesPage(
  { seenDevices }: Pick<HandlerRecords, 'seenDevices'>,
  order: 'brand' | DeviceOrder,
  query: ConsoleDevicesQuery,
  until: string,
): Promise<{ entries: readonly SeenDevice[]; next: string | null }> {
  if (order === 'brand') {
    const devices = await seenDevices.list(placeOf(query, ['', '', ''] as const), until, pageSize + 1);
    return pageOf(devices, pageSize, ({ brandId, model, serial }) => [brandId, model, serial]);
  }
  return sortedPage(query, pageSize, (range) => seenDevices.sorted(order, range));
}

/** The number of calling devices day by day; empty if none is known. */
async function callsByDay({ records, config, now }: Pick<Services, 'records' | 'config' | 'now'>): Promise<Html> {
  const { days } = await deviceDays({
    records,
    now: now(),
    days: drawn,
    remembered: config.devices.remember,
  });
  const amounts = days.map(({ devices }) => devices);
  if (amounts.every((amount) => amount === 0)) {
    if (!config.devices.remember) return nothing;
    return html`<p class="empty">
      No device called in the last ${String(drawn)} days. The chart does not include devices without a serial, or calls
      before devices.remember was turned on.
    </p>`;
  }
  return html`${renderDayChart(days, ({ devices }) => devices, `Devices that called: ${summarizeAmounts(amounts)}`)}
  ${renderDayTable('Day by day', days, [
    amountColumn('Devices', ({ devices }) => devices),
    amountColumn('Refreshes taken', ({ refreshes }) => refreshes),
  ])}`;
}

/** The number of days in the chart. */
const drawn = 30;

const emptyList = ({ snap, remember }: { snap: boolean; remember: boolean }): Html => {
  if (!snap)
    return html`The store does not serve devices. Set <code>devices.snap = true</code> in <code>larder.toml</code> (<a
        href="/docs/devices"
        >the guide</a
      >).`;
  if (!remember)
    return html`The store does not remember devices. To list the devices that call, set
      <code>devices.remember = true</code> in <code>larder.toml</code>.`;
  return html`No device has called yet. <code>larder device snippet</code> prints how to point a device here.`;
};

const addressOf = ({ brandId, model, serial }: Pick<SeenDevice, 'brandId' | 'model' | 'serial'>): string =>
  `/console/devices/${[brandId, model, serial].map(encodeURIComponent).join('/')}`;

export const consoleDevice = screen({
  name: 'console_device',
  path: '/console/devices/:brand_id/:model/:serial',
  summary: 'Show the last call of a device, and the snaps that it reported.',
  access: storeAdministrator('store-view'),

  async show({ params, records, now }) {
    const seen = await records.seenDevices.find(params.brand_id, params.model, params.serial);
    if (seen === undefined) {
      throw new Refusal('resource-not-found', 'This device has not called while devices.remember was on.');
    }
    const names = await records.inventory.names(seen.holds.map(({ packageId }) => packageId));
    return {
      title: seen.serial,
      lead: `Last call ${distance(seen.lastAt, now())}.`,
      content: html`${facts([
          ['Brand', html`<code>${seen.brandId}</code>`],
          ['Model', seen.model],
          ['First call', time(seen.firstAt)],
          ['Last call', time(seen.lastAt)],
        ])}
        <h2>Reported snaps</h2>
        ${table({
          caption: 'Snaps that the device reported',
          columns: [
            {
              heading: 'Snap',
              cell: ({ packageId }: (typeof seen.holds)[number]) => linkOf(packageId, names.get(packageId)),
            },
            { heading: 'Revision', cell: ({ revision }) => revision, number: true },
          ],
          rows: seen.holds,
          empty: 'The device has not reported any snaps.',
        })}`,
    };
  },
});

const linkOf = (id: string, subject: { namespace: string; name: string } | undefined): Html =>
  subject === undefined ? html`<code>${id}</code>` : html`<a href="${packageAt(subject)}">${subject.name}</a>`;
