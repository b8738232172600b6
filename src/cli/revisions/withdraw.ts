// larder revision withdraw, larder revision restore
import { restoreRevision, withdrawRevision } from '#acts/revisions/revisions.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { revisionArgument, revisionNumber } from './revision-argument.ts';

export const revisionWithdraw = command({
  name: 'revision withdraw',
  summary: 'Withdraw a revision: it is removed from all channels and can no longer be released.',
  description:
    "The revision and its file stay, and its publishers can read the reason. 'larder revision restore' makes it " +
    'available again. Devices that follow a channel with this revision continue with the next safer channel.',
  positionals: [packageArgument, revisionArgument],
  options: { reason: { type: 'string', value: 'TEXT', summary: 'The reason, in one line.', required: true } },
  examples: ["larder revision withdraw snap/hello 7 --reason 'It loses its data when it starts.'"],
  confirm: {
    question: ({ positionals }) =>
      `Withdraw revision ${positionals.revision} of ${positionals.package}? Every channel that holds it is closed.`,
    unattended: 'goes on',
  },

  run({ positionals, options: { reason }, data, world }) {
    const revision = revisionNumber(positionals.revision);
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      const channels = await acts.do(withdrawRevision, person, { package: subject, revision, reason });
      const object = `${subject.namespace}/${subject.name}`;
      const held = channels.length === 0 ? 'No channel held it.' : `${channels.join(', ')} held it.`;
      return {
        text: `Revision ${String(revision)} of ${object} is withdrawn. ${held}`,
        json: { package: object, revision, channels },
      };
    });
  },
});

export const revisionRestore = command({
  name: 'revision restore',
  summary: 'Make a withdrawn revision available again, so that it can be released.',
  positionals: [packageArgument, revisionArgument],
  examples: ['larder revision restore snap/hello 7'],

  run({ positionals, data, world }) {
    const revision = revisionNumber(positionals.revision);
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      await acts.do(restoreRevision, person, { package: subject, revision });
      const object = `${subject.namespace}/${subject.name}`;
      return {
        text: `Revision ${String(revision)} of ${object} is available again; 'larder release' releases it to a channel.`,
        json: { package: object, revision },
      };
    });
  },
});
