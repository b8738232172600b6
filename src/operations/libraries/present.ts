import type { Library } from '#contract/wire.ts';
import type { LibraryVersion } from '#records/libraries/charm-libraries.ts';

export const presentLibrary = (version: LibraryVersion): Library => ({
  api: version.api,
  'charm-name': version.charmName,
  hash: version.hash,
  'library-id': version.libraryId,
  'library-name': version.libraryName,
  patch: version.patch,
});
