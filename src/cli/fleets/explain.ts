// larder fleet explain
import { explainFleets, findDevice } from '#operations/fleets/explanation.ts';
import type { FleetExplanation } from '#contract/wire.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { parseChannelArgument } from '../releases/channel-arguments.ts';

export const fleetExplain = command({
  name: 'fleet explain',
  summary: 'Explain which revisions of a snap a device gets, and which fleet decides it.',
  positionals: [
    {
      name: 'serial',
      value: 'SERIAL',
      summary: 'The device: BRAND/MODEL/SERIAL, or a serial alone if a fleet or the serial log of this store names it.',
    },
    packageArgument,
  ],
  options: {
    channel: { type: 'string', value: 'CHANNEL', summary: 'Only this channel. Default: all channels of the snap.' },
    architecture: {
      type: 'string',
      value: 'ARCHITECTURE',
      summary: "The architecture of the device. Default: that of its model's assertion, else amd64.",
    },
    store: {
      type: 'string',
      value: 'STORE-ID',
      summary: 'The store that the device names. Default: the id of this store.',
    },
  },
  examples: [
    'larder fleet explain 0001 snap/core22',
    'larder fleet explain acme/pump/0001 snap/core22 --channel stable',
  ],

  run({ positionals, options, data, world }) {
    const channel = options.channel === undefined ? undefined : parseChannelArgument(options.channel);
    return withStore({ data, world }, async ({ records, config, now }) => {
      const snap = await findPackage(records, positionals.package);
      const device = await findDevice(positionals.serial, records);
      const { architecture, store: storeId = config.store.id } = options;
      const explanation = await explainFleets(records, { device, snap, storeId, architecture, channel, now: now() });
      return { text: explanationText(explanation), json: explanation };
    });
  },
});

function explanationText(explanation: FleetExplanation): string {
  const { device, package: subject, fleets, window, channels } = explanation;
  const hiddenBy = explanation['hidden-by'];
  const fleetNames = fleets.map(({ name, kind }) => `${name} (by ${kind})`).join(', ');
  const rows = channels.map(({ channel, revision, fleet, because }) => [
    ...[channel, revision === null ? 'none' : String(revision), fleet ?? '-', because],
  ]);
  const windowText = window && `${window.window} (fleet ${window.fleet}), ${window.open ? 'open' : 'closed'} now`;
  return [
    `${device} is in ${fleetNames === '' ? 'no fleet' : `the fleets ${fleetNames}, the most specific first`}.`,
    ...(windowText === null ? [] : [`It refreshes by itself in the window ${windowText}.`]),
    ...(explanation.private ? [`${subject} is not there for this device: it is private.`] : []),
    ...(hiddenBy === null ? [] : [`The fleet ${hiddenBy} hides ${subject}: this device does not find it.`]),
    ...(rows.length === 0 ? [] : ['', table(['CHANNEL', 'REVISION', 'FLEET', 'BECAUSE'], rows)]),
    '',
    'A validation set on the device precedes all fleets.',
  ].join('\n');
}
