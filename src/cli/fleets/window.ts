// larder fleet window
import { setFleetWindow } from '#acts/fleets/fleets.ts';
import { windowForm } from '#domain/fleets/refresh-window.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { fleetArgument } from './fleet-arguments.ts';

export const fleetWindow = command({
  name: 'fleet window',
  summary: 'Set the hours in which the devices of a fleet refresh by themselves.',
  description:
    'Outside of the window only devices that a person refreshes by hand, or that install a snap, get new revisions. ' +
    'The hours follow the clocks of the time zone, with daylight saving time.',
  positionals: [
    fleetArgument,
    { name: 'window', value: 'WINDOW', summary: `The window in quotes, such as ${windowForm}; or none.` },
  ],
  examples: ["larder fleet window pumps 'Sat 02:00-05:00 UTC'", 'larder fleet window pumps none'],

  run: ({ positionals: { fleet, window }, data, world }) =>
    withStore({ data, world }, async ({ acts, actor }) => {
      const change = { fleet, window: window === 'none' ? null : window };
      const set = await acts.do(setFleetWindow, { actor }, change);
      const text =
        set === null
          ? `The fleet ${fleet} has no refresh window; its devices refresh at any time.`
          : `The devices of the fleet ${fleet} refresh by themselves only in the window ${set}.`;
      return { text, json: { fleet, window: set } };
    }),
});
