// larder fleet pin, hold, follow, clear
import { setFleetChannel, type FleetChannelMode } from '#acts/fleets/fleet-channels.ts';
import { settingText } from '#domain/fleets/fleet-view.ts';
import { presentSetting } from '#operations/fleets/present.ts';
import { command, UsageError, type CommandResult, type World } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { parseChannelArgument } from '../releases/channel-arguments.ts';
import { revisionArgument, revisionNumber } from '../revisions/revision-argument.ts';
import { fleetArgument } from './fleet-arguments.ts';

const channelArgument = {
  name: 'channel',
  value: 'CHANNEL',
  summary: 'The channel, such as stable or 2.0/edge.',
} as const;

interface ChannelCall {
  positionals: { fleet: string; package: string; channel: string };
  data: string;
  world: World;
}

function setChannel(
  { positionals: { fleet, package: packageText, channel: channelText }, data, world }: ChannelCall,
  setting: FleetChannelMode,
): Promise<CommandResult> {
  const channel = parseChannelArgument(channelText);
  return withStore({ data, world }, async ({ records, acts, actor }) => {
    const subject = await findPackage(records, packageText);
    const settings = await acts.do(setFleetChannel, { actor }, { fleet, package: subject, channel, setting });
    const gives = settings.map((each) => `${settingText(each)}${each.slot === '*' ? '' : ` (${each.slot})`}`);
    const text = `For the fleet ${fleet}, ${packageText} ${channel.name} is ${gives.join(', ') || 'as in the store'}.`;
    return { text, json: { fleet, channels: settings.map((each) => presentSetting(each, packageText)) } };
  });
}

export const fleetPin = command({
  name: 'fleet pin',
  summary: 'Pin a revision of a snap in a channel for the devices of a fleet.',
  description:
    'The revision must have been released to a channel or a branch before. If it is withdrawn later, the devices get ' +
    'no revision from the channel until you set it again.',
  positionals: [fleetArgument, packageArgument, channelArgument, revisionArgument],
  examples: ['larder fleet pin pumps snap/core22 stable 1234'],
  run: (call) => setChannel(call, { mode: 'pin', revision: revisionNumber(call.positionals.revision) }),
});

export const fleetHold = command({
  name: 'fleet hold',
  summary: 'Keep the revisions that a channel gives now for the devices of a fleet.',
  positionals: [fleetArgument, packageArgument, channelArgument],
  examples: ['larder fleet hold pumps snap/core22 stable'],
  run: (call) => setChannel(call, { mode: 'hold' }),
});

export const fleetFollow = command({
  name: 'fleet follow',
  summary: 'Give the devices of a fleet in one channel the revisions of another channel.',
  positionals: [
    fleetArgument,
    packageArgument,
    {
      name: 'channels',
      value: 'CHANNEL=CHANNEL',
      summary: 'The channel of the devices, and the channel that it follows.',
    },
  ],
  examples: ['larder fleet follow pilots snap/core22 stable=candidate'],

  run({ positionals: { fleet, package: subject, channels }, data, world }) {
    const [channel = '', followed, ...rest] = channels.split('=');
    if (followed === undefined || rest.length > 0)
      throw new UsageError(`write the two channels as stable=candidate, not '${channels}'`);
    const setting = { mode: 'follow', follows: parseChannelArgument(followed) } as const;
    return setChannel({ positionals: { fleet, package: subject, channel }, data, world }, setting);
  },
});

export const fleetClear = command({
  name: 'fleet clear',
  summary: 'Give the devices of a fleet the revisions of the channel in the store again.',
  positionals: [fleetArgument, packageArgument, channelArgument],
  examples: ['larder fleet clear pumps snap/core22 stable'],
  run: (call) => setChannel(call, { mode: 'clear' }),
});
