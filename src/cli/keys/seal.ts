// larder key seal
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { sealMasterKey } from '#acts/store/appliance.ts';
import { createFile } from '#files/durable.ts';
import { passphraseIn, unwrapWithPassphrase, wrapWithPassphrase } from '#data/passphrase.ts';
import { readTextFile } from '../assertions/read-file.ts';
import { command, Failure } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

const minPassphraseLength = 12;

export const keySeal = command({
  name: 'key seal',
  summary: 'Encrypt the signing master key with a passphrase.',
  description:
    'master.key in the data directory becomes master.key.sealed. The store is sealed from its next start on, and ' +
    'signs nothing, unless keys.passphrase_file in the configuration or the credential larder-master-passphrase ' +
    'gives it the passphrase; SIGHUP makes a serving store look again. Without the passphrase nothing brings the ' +
    'key back.',
  options: {
    'passphrase-file': {
      type: 'string',
      value: 'FILE',
      summary: 'The file that holds the passphrase.',
      required: true,
    },
  },
  examples: [
    'larder key seal --passphrase-file /run/passphrase',
    'larder key seal --passphrase-file /run/passphrase --yes',
  ],
  confirm: {
    question: ({ data }) =>
      `master.key leaves ${data}: without the passphrase nothing brings it back, and the store signs nothing after its next start until it is given the passphrase.`,
    unattended: 'refused',
  },

  run({ options, data, world }) {
    const passphrase = passphraseIn(readTextFile(options['passphrase-file']));
    if (passphrase.length < minPassphraseLength) {
      throw new Failure(`the passphrase must have at least ${String(minPassphraseLength)} characters`);
    }
    return withStore({ data, world }, async ({ acts, person }) => {
      const [plain, sealed] = [join(data, 'master.key'), join(data, 'master.key.sealed')];
      const key = masterKeyIn(plain);
      createFile(sealed, wrapWithPassphrase(key, passphrase), 0o400);
      // Remove the key only after the sealed file has been opened successfully.
      if (!unwrapWithPassphrase(readFileSync(sealed, 'utf8'), passphrase).equals(key)) {
        throw new Error(`cannot read ${sealed} back; master.key stays`);
      }
      await acts.do(sealMasterKey, person, undefined);
      rmSync(plain);
      return {
        text: `The master key is encrypted with the passphrase, in ${sealed}. master.key was deleted from this host; delete it from copies too.`,
        json: { file: sealed },
      };
    });
  },
});

function masterKeyIn(file: string): Buffer {
  try {
    const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
    if (key.length === 32) return key;
  } catch (error) {
    throw new Failure(`there is no master key in ${file} that could be sealed`, { cause: error });
  }
  throw new Failure(`${file} does not hold a master key`);
}
