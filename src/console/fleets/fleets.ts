// The pages of fleets: the list, one fleet, and the fleets of one snap with the revisions that a device gets.
import { setFleetChannel, setFleetVisibility } from '#acts/fleets/fleet-channels.ts';
import { setFleetWindow } from '#acts/fleets/fleets.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministrator, storeAdministratorOnPackage } from '#access/access-rules.ts';
import { selectorText } from '#domain/fleets/fleet.ts';
import { settingText } from '#domain/fleets/fleet-view.ts';
import { windowForm } from '#domain/fleets/refresh-window.ts';
import { Refusal } from '#domain/refusal.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { ConsoleFleetChannel, ConsoleFleetSnapQuery, FleetExplanation } from '#contract/wire.ts';
import { caller } from '#operations/caller.ts';
import { explainFleets, findDevice } from '#operations/fleets/explanation.ts';
import { readChannelMode, readFleetChannel, readFleetInFull } from '#operations/fleets/present.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { declareMessages } from '../messages.ts';
import { hostCommand } from '../parts/host-command.ts';
import { addressOf as packageAt } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, formOf } from '../parts/form.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  'fleet-changed': 'The fleet is changed. Its devices get the difference with their next refresh.',
});

const addressOf = (name: string): string => `/console/fleets/${encodeURIComponent(name)}`;

/** The maximum number of rows of a list that has no pages. */
const maxRows = 100;

export const consoleFleets = screen({
  name: 'console_fleets',
  path: '/console/fleets',
  summary: 'List the fleets.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePageQuery',

  async show({ query, records }) {
    const [after] = placeOf(query, [''] as const);
    const { entries, next } = pageOf(await records.fleets.list(after, pageSize + 1), pageSize, ({ name }) => [name]);
    return {
      title: 'Fleets',
      lead: html`Names for devices that get other revisions than the other devices of the store (<a href="/docs/devices"
          >the guide</a
        >).`,
      content: html`${table<Fleet>({
        caption: 'Fleets',
        columns: [
          { heading: 'Fleet', cell: ({ name }) => html`<a href="${addressOf(name)}">${name}</a>` },
          { heading: 'Selects by', cell: ({ kind }) => kind },
          { heading: 'Refresh window', cell: ({ refreshWindow }) => refreshWindow ?? 'At any time' },
        ],
        rows: entries,
        empty: 'There are no fleets.',
      })}
      ${hostCommand('larder fleet create pumps --model acme/pump', 'Create a fleet on the host:')}
      ${nextPage(next === null ? undefined : withQuery('/console/fleets', { cursor: next }))}`,
    };
  },
});

export const consoleFleet = screen({
  name: 'console_fleet',
  path: '/console/fleets/:fleet',
  summary: 'Show a fleet: the devices that it selects, and everything that it changes for them.',
  access: storeAdministrator('store-view'),

  async show({ params, records, browsing }) {
    const fleet = await readFleetInFull(records, params.fleet);
    const devices = (await records.fleets.selectors(fleet.name, '', maxRows)).map(selectorText);
    return {
      title: fleet.name,
      lead: `Selects devices by ${fleet.kind}.`,
      content: html`${facts([
          ['From', fleet.source === null ? 'This store' : `The site ${fleet.source}, by a transfer`],
          ['Refresh window', fleet.window ?? 'None: devices refresh at any time.'],
          [
            'Hidden snaps',
            fleet.hidden.length === 0 ? 'None' : fleet.hidden.slice(0, maxRows).map((name) => html`${linkOf(name)} `),
          ],
        ])}
        <h2>Channels</h2>
        ${table({
          caption: 'Channels that the fleet changes',
          columns: [
            { heading: 'Snap', cell: (setting: (typeof fleet.channels)[number]) => linkOf(setting.package) },
            { heading: 'Channel', cell: ({ channel }) => channel },
            { heading: 'Architecture', cell: ({ architecture }) => architecture ?? 'All' },
            {
              heading: 'Gives',
              cell: ({ mode, revision, follows, withdrawn }) =>
                settingText({ mode, revision, follows, withdrawn, resources: [] }),
            },
          ],
          rows: fleet.channels.slice(0, maxRows),
          empty: 'The fleet changes no channel.',
        })}
        ${renderCut(Math.max(fleet.channels.length, fleet.hidden.length), fleet.name)}
        <h2>Devices</h2>
        ${table({
          caption: 'Devices of the fleet',
          columns: [{ heading: `By ${fleet.kind}`, cell: (device: string) => html`<code>${device}</code>` }],
          rows: devices,
          empty: 'The fleet selects no devices.',
        })}
        ${devices.length < fleet['device-count'] ? html`<p class="hint">The list has the first ${count(maxRows)} of ${count(fleet['device-count'])}. <code>larder fleet show ${fleet.name} --limit 10000</code> shows more of them.</p>` : nothing}
        <h2>Change the refresh window</h2>
        ${formOf(browsing, `${addressOf(fleet.name)}/window`, html`${windowField(fleet.window)} <button>Set the window</button>`)}`,
    };
  },
});

/** Says that a list of the fleet is longer than the page shows. */
const renderCut = (number: number, name: string): Html =>
  number <= maxRows
    ? nothing
    : html`<p class="hint">
        The list has the first ${count(maxRows)} of ${count(number)}. <code>larder fleet show ${name}</code> shows all.
      </p>`;

const linkOf = (name: string): Html => html`<a href="/console/packages/${name}/fleets">${name}</a>`;

const windowField = (window: string | null): Html =>
  field({
    name: 'window',
    label: 'Refresh window',
    value: window ?? '',
    maxLength: 128,
    hint: `Such as ${windowForm}; empty for none.`,
  });

export const consoleSetFleetWindow = formHandler({
  name: 'console_set_fleet_window',
  path: '/console/fleets/:fleet/window',
  summary: 'Set or remove the refresh window of a fleet.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleFleetWindow',
  refuses: ['conflict', ...gateErrorCodes],

  async perform(call) {
    const { params, body, acts } = call;
    await acts.do(setFleetWindow, caller(call), { fleet: params.fleet, window: body.window.trim() || null });
    return withMessage(addressOf(params.fleet), 'fleet-changed');
  },
});

const ofSnap = '/console/packages/:namespace/:name/fleets';

export const consoleSnapFleets = screen({
  name: 'console_snap_fleets',
  path: ofSnap,
  summary: 'List the fleets that change the channels of a snap, and explain which revisions a device gets.',
  access: storeAdministratorOnPackage('store-view'),
  query: 'ConsoleFleetSnapQuery',
  refuses: ['conflict'],

  async show(call) {
    const { package: subject, query, records, browsing } = call;
    const address = packageAt(subject, 'fleets');
    const settings = await records.fleets.settingsOfPackage(subject.id);
    return {
      title: `Fleets of ${subject.namespace}/${subject.name}`,
      lead: html`Other revisions for some devices. <a href="${packageAt(subject)}">To the package</a>`,
      content: html`${table({
          caption: 'Channels that fleets change',
          columns: [
            {
              heading: 'Fleet',
              cell: ({ fleet }: (typeof settings)[number]) => html`<a href="${addressOf(fleet)}">${fleet}</a>`,
            },
            { heading: 'Channel', cell: ({ channel }) => channel },
            { heading: 'Architecture', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
            { heading: 'Gives', cell: (setting) => settingText(setting) },
          ],
          rows: settings.slice(0, maxRows),
          empty: 'No fleet changes a channel of this snap.',
        })}
        ${settings.length > maxRows ? html`<p class="hint">The list has the first ${count(maxRows)} of ${count(settings.length)} settings. Ask for a device below, or open its fleet.</p>` : nothing}
        <h2>Which revisions does a device get?</h2>
        <form method="get" action="${address}">${deviceField(query)} <button>Explain</button></form>
        ${query.device === undefined || query.device === '' ? nothing : renderExplanation(await explain(call, query.device))}
        <h2>Change a channel for a fleet</h2>
        ${formOf(browsing, address, channelFields())}`,
    };
  },
});

const deviceField = ({ device }: ConsoleFleetSnapQuery): Html =>
  field({
    name: 'device',
    label: 'Device',
    value: device ?? '',
    maxLength: 512,
    hint: 'BRAND/MODEL/SERIAL, or a serial alone if a fleet or the serial log of this store names it.',
  });

async function explain(
  { package: snap, records, config, now }: Services & { package: PublishedPackage },
  text: string,
): Promise<FleetExplanation> {
  const device = await findDevice(text.trim(), records);
  const open = { architecture: undefined, channel: undefined };
  return explainFleets(records, { device, snap, storeId: config.store.id, ...open, now: now() });
}

function renderExplanation(explanation: FleetExplanation): Html {
  const { device, fleets, window, channels, 'hidden-by': hiddenBy } = explanation;
  return html`${facts([
    ['Device', html`<code>${device}</code>`],
    ['Fleets, the most specific first', fleets.map(({ name, kind }) => `${name} (by ${kind})`).join(', ') || 'None'],
    ['Refresh window', window === null ? 'None' : `${window.window}, ${window.open ? 'open' : 'closed'} now`],
    ...(hiddenBy === null ? [] : [['Hidden by the fleet', hiddenBy] as const]),
    ...(explanation.private ? [['Private', 'The snap is not for this device.'] as const] : []),
  ])}
  ${table({
    caption: `Revisions for ${device}`,
    columns: [
      { heading: 'Channel', cell: ({ channel }: FleetExplanation['channels'][number]) => channel },
      { heading: 'Revision', cell: ({ revision }) => (revision === null ? 'None' : String(revision)), number: true },
      { heading: 'Fleet', cell: ({ fleet }) => fleet ?? 'None' },
      { heading: 'Because', cell: ({ because }) => because },
    ],
    rows: channels,
    empty: 'The device gets no revision of this snap.',
  })}`;
}

const modes = [
  ['pin', 'Pin a revision'],
  ['hold', 'Hold the revisions of now'],
  ['follow', 'Follow another channel'],
  ['clear', 'As in the store'],
  ['hide', 'Hide the snap'],
  ['unhide', 'Show the snap'],
] as const;

const channelFields = (): Html =>
  html`${field({ name: 'fleet', label: 'Fleet', maxLength: 40, required: true })}
    ${choice({ name: 'mode', label: 'Change', value: 'pin' }, modes)}
    ${field({ name: 'channel', label: 'Channel', maxLength: 200, hint: 'Such as stable or 2.0/edge. Not needed to hide or show the snap.' })}
    ${field({ name: 'revision', label: 'Revision', maxLength: 9, inputMode: 'numeric', hint: 'To pin a revision that was released before.' })}
    ${field({ name: 'follows', label: 'Followed channel', maxLength: 200 })} <button>Change for the fleet</button>`;

export const consoleSetFleetChannel = formHandler({
  name: 'console_set_fleet_channel',
  path: ofSnap,
  summary: 'Set the revision that a channel of a snap gives to the devices of a fleet, or hide the snap from them.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'ConsoleFleetChannel',
  refuses: ['conflict', ...gateErrorCodes],

  async perform(call) {
    const { package: subject, body, acts } = call;
    const { mode } = body;
    const fleet = body.fleet.trim();
    if (mode === 'hide' || mode === 'unhide') {
      await acts.do(setFleetVisibility, caller(call), { fleet, package: subject, hidden: mode === 'hide' });
    } else {
      const [channel, setting] = [readFleetChannel(body.channel.trim()), readMode(mode, body)];
      await acts.do(setFleetChannel, caller(call), { fleet, package: subject, channel, setting });
    }
    return withMessage(packageAt(subject, 'fleets'), 'fleet-changed');
  },
});

function readMode(mode: 'pin' | 'hold' | 'follow' | 'clear', { revision, follows }: ConsoleFleetChannel) {
  const number = revision.trim();
  if (number !== '' && !/^[1-9]\d{0,8}$/.test(number))
    throw new Refusal('api-error', `'${number}' is not the number of a revision at /revision`);
  const followed = follows.trim();
  return readChannelMode({
    channel: '',
    mode,
    ...(number !== '' && { revision: Number(number) }),
    ...(followed !== '' && { follows: followed }),
  });
}
