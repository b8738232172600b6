// The usage of a package: its downloads and devices day by day, and the revisions on its devices.
import type { Services } from '#http/services.ts';
import type { PackageUsageResponse } from '#contract/wire.ts';
import { onPackage } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { readPackageDays } from '#operations/packages/usage.ts';
import { recentDays } from '#records/packages/downloads.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { OfferCounts } from '#records/fleets/seen-devices.ts';
import { amountColumn, renderDayTable, renderDayChart, summarizeAmounts } from '../parts/day-charts.ts';
import { share } from '../parts/charts.ts';
import { table, type Column } from '../parts/table.ts';
import { count, formatCount } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { renderPackageHeader } from './package-header.ts';

/** The maximum number of devices to count, the latest callers first. */
export const maxDevices = 5000;
/** The maximum number of revisions, and of offers, to show. */
const maxRows = 12;

type PackageUsageInput = Pick<Services, 'records' | 'now' | 'config'>;

export const consoleUsage = screen({
  name: 'console_usage',
  path: '/console/packages/:namespace/:name/usage',
  summary: 'Show the downloads of a package and its devices, day by day and by revision.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject } = call;
    return {
      title: `Usage of ${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, 'usage'),
      content: await renderUsage(call, subject),
    };
  },
});

/** Downloads and calling devices day by day, and the revisions on devices now. */
async function renderUsage(input: PackageUsageInput, subject: PublishedPackage): Promise<Html> {
  const { records, config, now } = input;
  const usage = await readPackageDays(subject.id, {
    records,
    now: now(),
    days: recentDays,
    remembered: config.devices.remember,
  });
  const refreshes = subject.namespace === 'snap' && config.devices.snap;
  const columns: Column<UsageDay>[] = [
    amountColumn('Downloads', ({ downloads }) => downloads),
    ...(refreshes
      ? [
          amountColumn<UsageDay>('Devices', ({ devices }) => devices),
          amountColumn<UsageDay>('Refreshes taken', ({ refreshes: taken }) => taken),
        ]
      : []),
  ];
  return html`<h2>Downloads</h2>
    ${downloadsOf(usage)}
    ${
      refreshes
        ? html`<h2>Devices</h2>
            ${devicesByDay(usage)}`
        : nothing
    }
    ${usage.days.some(isUsed) ? renderDayTable('Day by day', usage.days, columns) : nothing}
    ${refreshes ? await devicesOf(input, subject) : nothing}`;
}

type UsageDay = PackageUsageResponse['days'][number];

const isUsed = ({ downloads, devices, refreshes }: UsageDay): boolean => downloads + devices + refreshes > 0;

function downloadsOf({ days, downloads: { total, 'as-delta': deltas } }: PackageUsageResponse): Html {
  const amounts = days.map(({ downloads }) => downloads);
  const recent = amounts.reduce((sum, amount) => sum + amount, 0);
  return html`<p>
      ${formatCount(recent, 'download')} in the last ${String(days.length)} days; ${count(total)} in
      all${deltas === 0 ? '' : `, ${count(deltas)} of them as a delta`}. The numbers include only downloads from this
      store itself.
    </p>
    ${recent === 0 ? nothing : renderDayChart(days, ({ downloads }) => downloads, `Downloads: ${summarizeAmounts(amounts)}`)}`;
}

/** The calling devices day by day. Says so if devices are not remembered and there is nothing to draw. */
function devicesByDay({ days, remembered }: PackageUsageResponse): Html {
  const amounts = days.map(({ devices }) => devices);
  const drawing = renderDayChart(
    days,
    ({ devices }) => devices,
    `Devices that called with the package: ${summarizeAmounts(amounts)}`,
  );
  if (amounts.some((amount) => amount > 0)) return html`${drawing} ${remembered ? nothing : notRemembered}`;
  return remembered
    ? html`<p class="empty">
        No device with the package called in the last ${String(days.length)} days. The store counts devices that prove
        their serial and report their snaps, since devices.remember was turned on.
      </p>`
    : html`<p class="empty">
        The store does not remember devices. An administrator can turn this on with <code>remember = true</code> under
        <code>[devices]</code>. The store counts devices from then on.
      </p>`;
}

/** Shown below earlier counts if devices are no longer remembered. */
const notRemembered = html`<p class="hint">
  The store no longer remembers devices (<code>devices.remember</code> is off), so the numbers end there.
</p>`;

/** The revisions on devices, and the progress of refreshes. */
async function devicesOf({ records, config }: PackageUsageInput, { id }: PublishedPackage): Promise<Html> {
  if (!config.devices.remember) return nothing;
  const { looked, holds } = await records.seenDevices.holding(id, maxDevices);
  const offers = await records.seenDevices.offersOf(id);
  const devices = holds.reduce((sum, [, number]) => sum + number, 0);
  return html`<p>${describeDeviceCount(devices, looked)}</p>
    ${table({
      caption: 'Revisions on devices',
      columns: [
        { heading: 'Revision', cell: ([revision]) => revision },
        { heading: 'Devices', number: true, cell: ([, number]) => count(number) },
        { heading: 'Share', cell: ([, number]) => shareOf(number, devices) },
      ],
      rows: holds.slice(0, maxRows),
      empty: 'No device has reported this package.',
    })}
    ${offers.length === 0 ? nothing : offersTable(offers.slice(0, maxRows))}`;
}

/** The number of devices, with the number of devices looked at if that is limited. */
export const describeDeviceCount = (devices: number, looked: number): string =>
  looked >= maxDevices
    ? `Of the last ${formatCount(looked, 'device')} that called, ${count(devices)} have the package.`
    : `Of ${formatCount(looked, 'device')} that have called, ${count(devices)} have the package.`;

function shareOf(part: number, whole: number): Html {
  const percent = `${String(Math.round((100 * part) / Math.max(1, whole)))} %`;
  return html`${percent} ${share(part / Math.max(1, whole), `${percent} of the devices`)}`;
}

const offersTable = (offers: readonly OfferCounts[]): Html =>
  table({
    caption: 'Progress of refreshes',
    shown: true,
    columns: [
      { heading: 'Revision', cell: ({ revision }) => revision },
      { heading: 'Channel', cell: ({ channel }) => channel },
      { heading: 'Offered to', number: true, cell: ({ offered }) => count(offered) },
      { heading: 'Held', number: true, cell: ({ held }) => count(held) },
      { heading: 'Failed', number: true, cell: ({ failed }) => count(failed) },
      { heading: 'Taken', cell: ({ took, offered }) => html`${count(took)} ${shareOf(took, offered)}` },
    ],
    rows: offers,
    empty: '',
  });
