// larder transfer sign
import { resolve } from 'node:path';

import { ownSite, fingerprintOf, shortId } from '#transfers/site.ts';
import { signUnpacked } from '#transfers/parts/unpack.ts';
import { siteKeysOf } from '../../keys/find-keys.ts';
import { command } from '../../frame/command.ts';
import { toReadFailure } from '../../frame/outside-files.ts';
import { withStore } from '../../frame/store.ts';
import { withParts } from '../parts.ts';

export const transferSign = command({
  name: 'transfer sign',
  summary: 'Add the signature of this site to an unpacked transfer, as a scanning station does.',
  description:
    'The command reads all files again and verifies them against the signed statement of the source. Removed ' +
    "files are allowed. 'larder transfer pack' then makes parts with both signatures.",
  positionals: [{ name: 'folder', value: 'DIR', summary: 'The folder with the unpacked transfer.' }],
  examples: ['larder transfer sign ./scanned'],

  run: ({ positionals, data, world }) => {
    const folder = resolve(positionals.folder);
    return withStore(
      { data, world },
      async (store) => {
        const { records, asCaller } = store;
        const site = await ownSite(records, siteKeysOf(store, world));
        return withParts(
          [folder],
          async (parts) => {
            const id = await signUnpacked(parts, folder, site.key, asCaller).catch((error: unknown) => {
              throw toReadFailure(folder, error);
            });
            const fingerprints = fingerprintOf([site.key.publicKey]);
            return {
              text: `Transfer ${shortId(id)} is signed with ${fingerprints.join()} too.`,
              json: { id, 'signed-with': fingerprints },
            };
          },
          asCaller,
        );
      },
      { writesOutside: true },
    );
  },
});
