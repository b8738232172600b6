// larder site reset-floor
import { resetFloor } from '#acts/sites/sites.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { formatStagedTransfers, listStagedTransfers } from './staged-transfers.ts';

export const siteResetFloor = command({
  name: 'site reset-floor',
  summary: 'Lower the highest accepted number of a source, so that its later transfers can be accepted again.',
  description:
    'A transfer is accepted only if its number is higher than every accepted one of its source. If a transfer with a very high number was accepted, ' +
    'by mistake or by a thief of the key, the next ones of the source are refused until its people and yours agree on a number and it is set here. ' +
    'Transfers after that number can be accepted again, also older states of a channel: the preview marks them as downgrades. ' +
    'The approval policy for sources applies.',
  positionals: [{ name: 'name', summary: 'The name of the source.' }],
  options: {
    to: {
      type: 'integer',
      value: 'N',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER - 1,
      summary: 'The number of the last transfer that is to count as accepted.',
    },
  },
  examples: ['larder site reset-floor depot-north --to 41 --yes'],
  confirm: {
    question: ({ positionals: { name } }) =>
      `Transfers of ${name} that are older than one accepted here can be accepted again.`,
    unattended: 'refused',
  },

  run: ({ positionals: { name }, options: { to }, data, world }) => {
    if (to === undefined)
      throw new UsageError("name the last transfer that is to count, by --to N; 'larder transfer list' shows them");
    return withStore({ data, world }, async (store) => {
      await store.acts.do(resetFloor, store.person, { name, to });
      const waiting = await listStagedTransfers(name, store);
      return {
        text: [`The highest accepted number of ${name} is ${String(to)} now.`, ...formatStagedTransfers(waiting)].join(
          '\n',
        ),
        json: { name, floor: to, waiting },
      };
    });
  },
});
