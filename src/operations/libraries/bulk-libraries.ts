import { operation } from '#api/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import type { LibraryVersion } from '#records/charm-libraries.ts';
import { presentLibrary } from './present.ts';
import { libraryReader } from './visible.ts';

const most = 1000;

export const bulkLibraries = operation({
  name: 'bulk_libraries',
  method: 'POST',
  path: '/v1/charm/libraries/bulk',
  since: 0,
  summary: 'Say which versions there are of many libraries at once.',
  access: libraryReader,
  errors: 'libraries',
  body: 'BulkLibrariesRequest',
  response: 'BulkLibrariesResponse',

  async handle({ body, sees, records }) {
    const found = new Map<string, LibraryVersion>();
    for (const item of body) {
      const {
        'library-id': libraryId,
        'charm-name': charmName,
        'library-name': libraryName,
        api = null,
        patch = null,
      } = item;
      if (libraryId === undefined && charmName === undefined) {
        throw new Refusal('api-error', "Items need to include 'library_id' or 'package_id'");
      }
      const ids =
        libraryId !== undefined
          ? [libraryId]
          : await records.charmLibraries.idsOf(charmName ?? '', libraryName ?? null);
      for (const id of ids) {
        const wanted = { libraryId: id, api, patch };
        const version = await records.charmLibraries.version(wanted);
        if (version === undefined || (charmName !== undefined && version.charmName !== charmName)) continue;
        if (!(await sees(version))) continue;
        found.set(`${version.libraryId} ${version.api} ${version.patch}`, version);
        if (found.size > most)
          throw new Refusal('api-error', `More than ${most} libraries are asked for; ask for fewer at once.`);
      }
    }
    return { libraries: [...found.values()].map(presentLibrary) };
  },
});
