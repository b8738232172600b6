// larder device grants
import { presentGrant } from '#operations/devices/grants/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';

export const deviceGrants = command({
  name: 'device grants',
  summary: 'List the devices that a private snap is granted to.',
  positionals: [packageArgument],
  options: {
    after: { type: 'string', value: 'BRAND[/MODEL[/SERIAL]]', summary: 'Only grants after this one in the list.' },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 10_000,
      summary: 'The number of grants. Default: 100.',
    },
  },
  examples: ['larder device grants snap/hello', 'larder device grants snap/hello --json'],

  run: ({ positionals: { package: packageText }, options: { after = '', limit = 100 }, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const subject = await findPackage(records, packageText);
      const grants = await records.deviceGrants.list(subject.id, after.split('/'), limit + 1);
      const shown = grants.slice(0, limit);
      const more = grants.length > limit;
      const rows = shown.map(({ brandId, model, serial, createdAt, createdBy }) => [
        ...[brandId, model ?? 'all', serial ?? 'all', createdAt, createdBy],
      ]);
      const list = table(['BRAND', 'MODEL', 'SERIAL', 'GRANTED', 'BY'], rows);
      const { brandId = '', model = '', serial = '' } = shown.at(-1) ?? {};
      const last = [brandId, model, serial].filter((part) => part !== '').join('/');
      const hint = more ? `\nThere are more; --after ${last} shows them.` : '';
      const none = `${packageText} is granted to no devices but those of its publisher's brand.`;
      return { text: shown.length === 0 ? none : list + hint, json: { grants: shown.map(presentGrant), more } };
    }),
});
