import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentLibrary } from './present.ts';
import { libraryReader } from './library-reader.ts';

export const readLibrary = operation({
  name: 'read_library',
  method: 'GET',
  path: '/v1/charm/libraries/:charm_name/:library_id',
  since: 0,
  summary: 'Get a version of a library of a charm, by default the newest.',
  access: libraryReader,
  query: 'ReadLibraryQuery',
  response: 'LibraryWithContent',

  async handle({ params, query, sees, records }) {
    const { charm_name: charmName, library_id: libraryId } = params;
    const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
    const versionKey = { libraryId, api: number(query.api), patch: number(query.patch) };
    const version = await records.charmLibraries.version(versionKey);
    if (version?.charmName === charmName && (await sees(version))) {
      return { ...presentLibrary(version), content: version.content };
    }
    throw new Refusal(
      'resource-not-found',
      `There is no such library of the charm '${charmName.slice(0, 64)}', or it does not have this version.`,
    );
  },
});
