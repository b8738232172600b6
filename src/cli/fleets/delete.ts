// larder fleet delete
import { deleteFleet } from '#acts/fleets/fleets.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { fleetArgument } from './fleet-arguments.ts';

export const fleetDelete = command({
  name: 'fleet delete',
  summary: 'Delete a fleet that changes no channel, hides no snap and has no refresh window.',
  positionals: [fleetArgument],
  examples: ['larder fleet delete pumps'],

  run: ({ positionals: { fleet }, data, world }) =>
    withStore({ data, world }, async ({ acts, actor }) => {
      await acts.do(deleteFleet, { actor }, { fleet });
      return { text: `The fleet ${fleet} is deleted.`, json: { deleted: fleet } };
    }),
});
