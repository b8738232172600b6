// larder fleet add, larder fleet remove
import { updateFleetDevices } from '#acts/fleets/fleets.ts';
import { command, UsageError, type CommandResult, type World } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { fleetArgument, listOption, readDeviceList } from './fleet-arguments.ts';

const deviceArguments = {
  name: 'devices',
  value: 'DEVICE',
  summary: 'Devices, of the kind that the fleet selects by: BRAND/MODEL/SERIAL, BRAND/MODEL, ACCOUNT-ID or STORE-ID.',
  repeated: true,
} as const;

interface DevicesCall {
  positionals: { fleet: string; devices: readonly string[] };
  options: { list: string | undefined };
  data: string;
  world: World;
}

function updateDevices(
  { positionals: { fleet, devices }, options, data, world }: DevicesCall,
  verb: 'add' | 'remove',
): Promise<CommandResult> {
  const all = [...new Set([...devices, ...readDeviceList(options.list)])];
  if (all.length === 0) throw new UsageError('name a device, or give --list');
  return withStore({ data, world }, async ({ acts, actor }) => {
    const change = { fleet, add: verb === 'add' ? all : [], remove: verb === 'remove' ? all : [] };
    const { added, removed } = await acts.do(updateFleetDevices, { actor }, change);
    const count = added + removed;
    return {
      text: `${count === 1 ? '1 entry' : `${String(count)} entries`} ${verb === 'add' ? 'added to' : 'removed from'} the fleet ${fleet}.`,
      json: { fleet, added, removed },
    };
  });
}

export const fleetAdd = command({
  name: 'fleet add',
  summary: 'Add devices to a fleet. They get what its channels give from their next refresh on.',
  positionals: [fleetArgument, deviceArguments],
  options: { list: listOption },
  examples: ['larder fleet add pilots acme/pump/0002', 'larder fleet add pilots --list pilots.txt'],
  run: (call) => updateDevices(call, 'add'),
});

export const fleetRemove = command({
  name: 'fleet remove',
  summary: 'Remove devices from a fleet. They get what the store gives from their next refresh on.',
  positionals: [fleetArgument, deviceArguments],
  options: { list: listOption },
  examples: ['larder fleet remove pilots acme/pump/0002'],
  run: (call) => updateDevices(call, 'remove'),
});
