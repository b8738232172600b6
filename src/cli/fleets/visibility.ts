// larder fleet hide, larder fleet unhide
import { setFleetVisibility } from '#acts/fleets/fleet-channels.ts';
import { command, type CommandResult, type World } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { fleetArgument } from './fleet-arguments.ts';

interface VisibilityCall {
  positionals: { fleet: string; package: string };
  data: string;
  world: World;
}

const setVisibility = (
  { positionals: { fleet, package: packageText }, data, world }: VisibilityCall,
  hidden: boolean,
): Promise<CommandResult> =>
  withStore({ data, world }, async ({ records, acts, actor }) => {
    const subject = await findPackage(records, packageText);
    await acts.do(setFleetVisibility, { actor }, { fleet, package: subject, hidden });
    return {
      text: `The devices of the fleet ${fleet} ${hidden ? 'do not find' : 'find'} ${packageText}${hidden ? ' any longer' : ' again'}.`,
      json: { fleet, package: packageText, hidden },
    };
  });

export const fleetHide = command({
  name: 'fleet hide',
  summary: 'Hide a snap from the devices of a fleet: they do not find, install or refresh it.',
  description: 'Installed snaps stay installed. A validation set on a device that names a revision still gets it.',
  positionals: [fleetArgument, packageArgument],
  examples: ['larder fleet hide pumps snap/games'],
  run: (call) => setVisibility(call, true),
});

export const fleetUnhide = command({
  name: 'fleet unhide',
  summary: 'Show a hidden snap to the devices of a fleet again.',
  positionals: [fleetArgument, packageArgument],
  examples: ['larder fleet unhide pumps snap/games'],
  run: (call) => setVisibility(call, false),
});
