// larder package set-id
import { timestamp } from '#domain/clock.ts';
import { isPackageId } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import { command, UsageError } from '../frame/command.ts';
import { packageName } from './named.ts';
import { withStore } from '../frame/store.ts';

export const packageSetId = command({
  name: 'package set-id',
  summary: 'Give a package the id that it has in the online store, before its first revision.',
  positionals: [
    { name: 'package', value: 'NAMESPACE/NAME', summary: 'The name, such as snap/hello.' },
    { name: 'id', value: 'ID', summary: 'The id: 32 letters and digits.' },
  ],
  examples: ['larder package set-id snap/hello buPKUD3TKqCOgLEjjHx5kSiCpIs5cMuQ'],
  confirm: {
    question: ({ positionals: { package: named, id } }) =>
      `${named} gets the id ${id}: what was signed or remembered elsewhere under its present id does not fit it any more.`,
    unattended: 'goes on',
  },

  run({ positionals, data, world }) {
    const { namespace, name } = packageName(positionals.package);
    const { id } = positionals;
    if (!isPackageId(id)) throw new UsageError(`ID is a package id, 32 letters and digits, not '${id}'`);
    return withStore({ data, world }, async ({ records, entry, now }) => {
      const change = { ...entry('package set-id', `${namespace}/${name}`), at: timestamp(now()) };
      const before = await records.change({ ...change, details: { id } }, async (tx, note) => {
        const found = await tx.packages.find(namespace, name);
        if (found === undefined) throw new Refusal('resource-not-found', `There is no package '${namespace}/${name}'.`);
        if (found.id === id) return found.id;
        if ((await tx.revisions.newest(found.id)) > 0 || (await tx.uploads.hasReviewPending(found.id))) {
          throw new Refusal(
            'conflict',
            `The package '${namespace}/${name}' has revisions, which go by its id; it can change no more.`,
          );
        }
        if (!(await tx.packages.setId(found.id, id)))
          throw new Refusal('conflict', `Another package has the id '${id}'.`);
        note({ before: found.id });
        return found.id;
      });
      return { text: `The package ${namespace}/${name} has the id ${id}.`, json: { namespace, name, id, before } };
    });
  },
});
