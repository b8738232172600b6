// larder site rotate
import { resolve } from 'node:path';

import { Refusal } from '#domain/refusal.ts';
import { fingerprintOf, lastRotation, ownSite, rotateSiteKey } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';

export const siteRotate = command({
  name: 'site rotate',
  summary:
    'Give this site another key to sign transfers with; those who believe it follow by a statement of the one before.',
  description:
    "FILE is carried to the sites that believe this one: 'larder site trust FILE' takes it there without a fingerprint, because the key " +
    'that they know has signed it. What came in there before stays as it is. Each rotation needs those before it.',
  positionals: [{ name: 'file', summary: 'The file to write, which must not be there yet.' }],
  options: {
    again: { type: 'boolean', summary: 'Write what the last rotation wrote once more, and change nothing.' },
  },
  examples: [
    'larder site rotate ./depot-north-rotated.json --yes',
    'larder site rotate ./once-more.json --again --yes',
  ],
  confirm: {
    question: () => 'What this site signs from now on is believed only where the file was taken in.',
    unattended: 'refused',
  },

  run: ({ positionals: { file }, options, data, world }) =>
    withStore(
      { data, world },
      async ({ records, acts, person, siteKey, asCaller }) => {
        const path = resolve(file);
        const before = await ownSite(records, siteKey);
        const written = await writeNew(path, asCaller, async (append) => {
          const statement = options.again
            ? await lastRotation(records)
            : await rotateSiteKey(before, siteKey, acts, person);
          if (statement === undefined) throw new Refusal('conflict', 'The key of this site was not rotated yet.');
          await append(statement);
        });
        const [fingerprint = ''] = fingerprintOf([(await ownSite(records, siteKey)).seed.publicKey]);
        return {
          text:
            `The key of this site has the fingerprint ${fingerprint} now; ${path} says so to those who believe it.\n` +
            'A transfer that the old key has signed is not accepted any more where this file was taken: make those again that are still on their way.',
          json: { file: path, fingerprint, ...written },
        };
      },
      { writesOutside: true },
    ),
});
