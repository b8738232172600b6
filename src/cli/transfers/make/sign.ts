// larder transfer sign
import { resolve } from 'node:path';

import { ownSite, fingerprintOf, shortId } from '#transfers/site.ts';
import { signUnpacked } from '#transfers/parts/unpack.ts';
import { command } from '../../frame/command.ts';
import { toReadFailure } from '../../frame/outside-files.ts';
import { withStore } from '../../frame/store.ts';
import { withParts } from '../parts.ts';

export const transferSign = command({
  name: 'transfer sign',
  summary:
    'Sign an unpacked transfer with the key of this site, beside those who have signed it: as a scanning station does.',
  description:
    "All of it is read once more and held against what its source has signed; what was taken away is no fault. 'larder transfer pack' " +
    'then makes parts with both signatures.',
  positionals: [{ name: 'folder', value: 'DIR', summary: 'The folder in which it lies unpacked.' }],
  examples: ['larder transfer sign ./scanned'],

  run: ({ positionals, data, world }) => {
    const folder = resolve(positionals.folder);
    return withStore(
      { data, world },
      async ({ records, siteKey, asCaller }) => {
        const site = await ownSite(records, siteKey);
        return withParts(
          [folder],
          async (parts) => {
            const id = await signUnpacked(parts, folder, site.seed, asCaller).catch((error: unknown) => {
              throw toReadFailure(folder, error);
            });
            const fingerprints = fingerprintOf([site.seed.publicKey]);
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
