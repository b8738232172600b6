// larder site rotate
import { resolve } from 'node:path';

import { Refusal } from '#domain/refusal.ts';
import { fingerprintOf, lastRotation, ownSite, rotateSiteKey } from '#transfers/site.ts';
import { siteKeysOf } from '../keys/find-keys.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';

export const siteRotate = command({
  name: 'site rotate',
  summary:
    'Rotate the key that this site signs transfers with. The old key signs the new one, so that other sites can ' +
    'follow.',
  description:
    "Carry FILE to the sites that trust this one and run 'larder site trust FILE' there. It needs no " +
    'fingerprint, because the old key has signed it. Transfers that were received there before are not affected. ' +
    'Each rotation needs all earlier ones.',
  positionals: [{ name: 'file', summary: 'The new file to write.' }],
  options: {
    'in-manager': {
      type: 'string',
      value: 'KEY',
      summary: 'Use the ECDSA P-384 key that has this name in the key manager. Default: make a key in this store.',
    },
    again: { type: 'boolean', summary: 'Write the file of the last rotation again, and change nothing.' },
  },
  examples: [
    'larder site rotate ./depot-north-rotated.json --yes',
    'larder site rotate ./once-more.json --again --yes',
    'larder site rotate ./into-the-token.json --in-manager site --yes',
  ],
  confirm: {
    question: () => 'Other sites will trust new transfers of this site only after they have imported the file.',
    unattended: 'refused',
  },

  run: ({ positionals: { file }, options, data, world }) =>
    withStore(
      { data, world },
      async (store) => {
        const { records, acts, person, asCaller } = store;
        const path = resolve(file);
        const keys = siteKeysOf(store, world);
        const managerKey = options['in-manager'];
        const before = await ownSite(records, keys);
        const written = await writeNew(path, asCaller, async (append) => {
          const statement = options.again
            ? await lastRotation(records)
            : await rotateSiteKey(before, { ...keys, managerKey }, acts, person);
          if (statement === undefined) throw new Refusal('conflict', 'The key of this site has not been rotated yet.');
          await append(statement);
        });
        const [fingerprint = ''] = fingerprintOf([(await ownSite(records, keys)).key.publicKey]);
        return {
          text:
            `The key of this site now has the fingerprint ${fingerprint}. Carry ${path} to the sites that trust this one.\n` +
            'Sites that have imported this file refuse transfers signed with the old key. Make transfers again that are still on their way.',
          json: { file: path, fingerprint, ...written },
        };
      },
      { writesOutside: true },
    ),
});
