import { onCharm } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentLibrary } from './present.ts';

export const publishLibrary = operation({
  name: 'publish_library',
  method: 'POST',
  path: '/v1/charm/libraries/:charm_name/:library_id',
  since: 0,
  summary: 'Publish a version of a library of a charm.',
  access: onCharm('package-manage-revisions'),
  body: 'PublishLibraryRequest',
  response: 'Library',
  // The text of a library may double when it is written as JSON.
  bodyLimit: 4 * 1024 * 1024,
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, principal, body, records, now } = call;
    const { library_id: libraryId } = params;
    const { api, patch, hash, content } = body;
    const at = timestamp(now());
    const details = { library: libraryId, api, patch };
    const entry = { ...by(call, 'publish_library'), at, object: `charm/${subject.name}`, details };
    const wanted = { libraryId, api, patch: null };
    const published = await records.change(entry, async (tx) => {
      const library = await tx.charmLibraries.find(subject.id, libraryId);
      if (library === undefined)
        throw new Refusal('resource-not-found', `'${subject.name}' has no library '${libraryId.slice(0, 64)}'.`);
      const newest = await tx.charmLibraries.version(wanted);
      const same = newest?.patch === patch && newest.hash === hash && newest.content === content;
      if (newest !== undefined && newest.patch >= patch && !same) {
        throw new Refusal(
          'conflict',
          `The library '${library.name}' is at ${api}.${newest.patch} already; give it a higher patch.`,
        );
      }
      if (!same)
        await tx.charmLibraries.addVersion({ libraryId, api, patch, hash, content, at, by: principal.accountId });
      return tx.charmLibraries.version(wanted);
    });
    if (published === undefined) throw new Error(`cannot find the library ${libraryId} that was just published`);
    return presentLibrary(published);
  },
});
