// larder package set-id
import { setPackageId } from '#acts/packages/registration.ts';
import { isPackageId } from '#domain/ids.ts';
import { command, UsageError } from '../frame/command.ts';
import { parsePackageName } from './package-argument.ts';
import { withStore } from '../frame/store.ts';

export const packageSetId = command({
  name: 'package set-id',
  summary: 'Give a package its id in the online store, before its first revision.',
  positionals: [
    { name: 'package', value: 'NAMESPACE/NAME', summary: 'The name, such as snap/hello.' },
    { name: 'id', value: 'ID', summary: 'The id: 32 letters and digits.' },
  ],
  examples: ['larder package set-id snap/hello buPKUD3TKqCOgLEjjHx5kSiCpIs5cMuQ'],
  confirm: {
    question: ({ positionals: { package: packageText, id } }) =>
      `${packageText} gets the id ${id}. Assertions and data elsewhere that use its present id will no longer match.`,
    unattended: 'goes on',
  },

  run({ positionals, data, world }) {
    const { namespace, name } = parsePackageName(positionals.package);
    const { id } = positionals;
    if (!isPackageId(id)) throw new UsageError(`ID is a package id, 32 letters and digits, not '${id}'`);
    return withStore({ data, world }, async ({ acts, actor }) => {
      const { before } = await acts.do(setPackageId, { actor }, { namespace, name, id });
      return { text: `The package ${namespace}/${name} has the id ${id}.`, json: { namespace, name, id, before } };
    });
  },
});
