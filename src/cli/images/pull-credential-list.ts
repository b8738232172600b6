// larder pull-credential list
import { presentPullCredential } from '#operations/registry/pull-credentials.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const pullCredentialList = command({
  name: 'pull-credential list',
  summary: 'List the pull credentials of the image registry.',
  description:
    'Each repository has its own credentials. They are part of the resource revisions that name its images. ' +
    'Passwords are not shown.',
  options: {
    after: { type: 'string', value: 'ID', summary: 'Only credentials after this one, in the order of their ids.' },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 10_000,
      summary: 'The number of credentials. Default: 100.',
    },
  },
  examples: ['larder pull-credential list', 'larder pull-credential list --limit 500 --json'],

  run: ({ options: { after = '', limit = 100 }, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const credentials = await records.imageCredentials.listToPull(after, limit + 1);
      const shown = credentials.slice(0, limit);
      const more = credentials.length > limit;
      const rows = shown.map(({ id, namespace, name, resource, issuedAt, endsAt }) => [
        ...[id, `${namespace}/${name}`, resource, issuedAt, endsAt ?? '-'],
      ]);
      const list = table(['ID', 'PACKAGE', 'RESOURCE', 'ISSUED', 'ENDS'], rows);
      const hint = more ? `\nThere are more; --after ${shown.at(-1)?.id ?? ''} shows them.` : '';
      return {
        text: shown.length === 0 ? 'There are no such credentials.' : list + hint,
        json: { credentials: shown.map(presentPullCredential), more },
      };
    }),
});
