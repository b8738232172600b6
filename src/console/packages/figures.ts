// How a package is used: its downloads day by day, and what the devices that called say to hold.
import type { Services } from '#api/services.ts';
import { html, nothing, type Html } from '#api/pages/html.ts';
import { days } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { OfferCounts } from '#records/seen-devices.ts';
import { bar, pillars } from '../parts/drawing.ts';
import { table } from '../parts/table.ts';
import { count, counted } from '../parts/values.ts';

/** Of so many devices that called last it is looked at what they hold. */
export const mostDevices = 5000;
/** So many revisions, and so many offers, are shown. */
const most = 12;

type Asked = Pick<Services, 'records' | 'now' | 'config'>;

/** Its downloads, day by day. */
export async function downloadsOf({ records, now }: Asked, { id }: PublishedPackage): Promise<Html> {
  const at = now();
  const [{ inAll, deltas, recent }, daily] = [
    await records.downloads.of(id, at),
    await records.downloads.byDay(id, at),
  ];
  const words = `${counted(recent, 'download')} in the last ${String(daily.length)} days, ${count(Math.max(...daily))} on the busiest of them`;
  return html`<h2>Downloads</h2>
    <p>
      ${words}; ${count(inAll)} in all${deltas === 0 ? '' : `, ${count(deltas)} of them as a delta`}. Counted is
      whatever this store handed out itself.
    </p>
    ${
      recent === 0
        ? nothing
        : pillars(
            daily.map((all) => ({ all, bad: 0 })),
            words,
          )
    }`;
}

/** What devices hold, and how far refreshes have come; nothing where no device of this store refreshes such a package. */
export async function devicesOf({ records, config, now }: Asked, { id, namespace }: PublishedPackage): Promise<Html> {
  if (namespace !== 'snap' || !config.devices.snap) return nothing;
  if (!config.devices.remember) {
    return html`<h2>Devices</h2>
      <p class="empty">
        It is not remembered what devices hold. Whoever administers the store turns that on with
        <code>remember = true</code> under <code>[devices]</code>.
      </p>`;
  }
  const { looked, holds, calls } = await records.seenDevices.holding(id, mostDevices);
  const offers = await records.seenDevices.offersOf(id);
  const devices = holds.reduce((sum, [, number]) => sum + number, 0);
  return html`<h2>Devices</h2>
    <p>${deviceWords(devices, looked)}</p>
    ${calls.length === 0 ? nothing : callsByDay(calls, now())}
    ${table({
      caption: 'What devices hold',
      columns: [
        { heading: 'Revision', cell: ([revision]) => revision },
        { heading: 'Devices', number: true, cell: ([, number]) => count(number) },
        { heading: 'Share', cell: ([, number]) => shareOf(number, devices) },
      ],
      rows: holds.slice(0, most),
      empty: 'No device has said that it holds this.',
    })}
    ${offers.length === 0 ? nothing : offersTable(offers.slice(0, most))}`;
}

/** So many days are drawn. */
const drawn = 30;

/** When the devices that hold it called last, day by day: how many are still there. */
function callsByDay(calls: readonly string[], now: Date): Html {
  const dayOf = (moment: number): number => Math.floor(moment / days(1));
  const today = dayOf(now.getTime());
  const pieces = Array.from({ length: drawn }, () => ({ all: 0, bad: 0 }));
  let earlier = 0;
  for (const call of calls) {
    const piece = pieces[drawn - 1 - (today - dayOf(Date.parse(call)))];
    if (piece === undefined) earlier++;
    else piece.all++;
  }
  const words =
    `Their last calls in ${counted(drawn, 'day')}: ${count(pieces.at(-1)?.all ?? 0)} of them today, ` +
    (earlier === 0 ? 'and none before' : `and ${count(earlier)} before all that`);
  return html`${pillars(pieces, words)}
    <p class="hint">${words}.</p>`;
}

/** How many devices hold something, of how many it is known. */
export const deviceWords = (devices: number, looked: number): string =>
  looked >= mostDevices
    ? `Of the ${counted(looked, 'device')} that called last, ${count(devices)} say to hold it.`
    : `Of ${counted(looked, 'device')} that ever called, ${count(devices)} say to hold it.`;

function shareOf(part: number, whole: number): Html {
  const percent = `${String(Math.round((100 * part) / Math.max(1, whole)))} %`;
  return html`${percent} ${bar(part / Math.max(1, whole), `${percent} of the devices`)}`;
}

const offersTable = (offers: readonly OfferCounts[]): Html =>
  table({
    caption: 'How far refreshes have come',
    shown: true,
    columns: [
      { heading: 'Revision', cell: ({ revision }) => revision },
      { heading: 'Channel', cell: ({ channel }) => channel },
      { heading: 'Offered to', number: true, cell: ({ offered }) => count(offered) },
      { heading: 'Failed', number: true, cell: ({ failed }) => count(failed) },
      { heading: 'Taken', cell: ({ took, offered }) => html`${count(took)} ${shareOf(took, offered)}` },
    ],
    rows: offers,
    empty: '',
  });
