import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import type { LibraryVersion } from '#records/libraries/charm-libraries.ts';
import { presentLibrary } from './present.ts';
import { libraryReader } from './library-reader.ts';

const maxLibraries = 1000;

export const bulkLibraries = operation({
  name: 'bulk_libraries',
  method: 'POST',
  path: '/v1/charm/libraries/bulk',
  since: 0,
  summary: 'List the versions of several libraries at once.',
  access: libraryReader,
  errors: 'libraries',
  body: 'BulkLibrariesRequest',
  response: 'BulkLibrariesResponse',

  async handle({ body, sees, records }) {
    const versions = new Map<string, LibraryVersion>();
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
        const versionKey = { libraryId: id, api, patch };
        const version = await records.charmLibraries.version(versionKey);
        if (version === undefined || (charmName !== undefined && version.charmName !== charmName)) continue;
        if (!(await sees(version))) continue;
        versions.set(`${version.libraryId} ${version.api} ${version.patch}`, version);
        if (versions.size > maxLibraries)
          throw new Refusal('api-error', `More than ${maxLibraries} libraries are requested. Request fewer at once.`);
      }
    }
    return { libraries: [...versions.values()].map(presentLibrary) };
  },
});
