// larder backup
import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KeyTexts } from '#backup/keys.ts';
import { makeBackup } from '#backup/make.ts';
import { withBlobs } from '#src/appliance.ts';
import { version } from '#src/version.ts';
import { command, Failure, UsageError } from './command.ts';
import { masterKeyOf } from './keys.ts';
import { newPassphrase, passphraseIn } from './passphrase.ts';
import { progressOf } from './progress.ts';
import { canAsk } from './questions.ts';
import { withStore } from './store.ts';

export const backup = command({
  name: 'backup',
  summary: 'Back the store up to one file, while it serves or not.',
  description:
    'The file is a tar archive with the database as of one moment, the configuration, the certificates and every blob; ' +
    'a signed list of them comes last, so that a backup that was cut off is never taken for a whole one. The two ' +
    'wrapping keys are left out: keep copies of site.key and master.key elsewhere, or put them in under a passphrase ' +
    'with --include-keys. Without the site key a backup cannot be restored.',
  positionals: [{ name: 'file', summary: 'The file to write, which must not be there yet.' }],
  options: {
    since: { type: 'string', value: 'FILE', summary: 'An earlier backup; its blobs are left out of this one.' },
    'include-keys': { type: 'boolean', summary: 'Put the site key and the signing master key in, under a passphrase.' },
    'passphrase-file': {
      type: 'string',
      value: 'FILE',
      summary: 'The file whose first line is that passphrase; without it a terminal is asked.',
    },
  },
  examples: [
    'larder backup /media/usb/larder-monday.tar',
    'larder backup /media/usb/larder-tuesday.tar --since /media/usb/larder-monday.tar',
    'larder backup ./moving.tar --include-keys --passphrase-file ./passphrase',
  ],

  async run(call) {
    const { since, 'include-keys': includeKeys, 'passphrase-file': passphraseFile } = call.options;
    const file = resolve(call.positionals.file);
    if (passphraseFile !== undefined && !includeKeys)
      throw new UsageError('--passphrase-file is of use only with --include-keys');
    if (includeKeys && passphraseFile === undefined && !canAsk(call.world))
      throw new UsageError('--include-keys needs --passphrase-file FILE where nobody is at the terminal');
    if (existsSync(file)) throw new Failure(`${file} is there already; a backup overwrites nothing`);
    const typed = includeKeys && passphraseFile === undefined ? await newPassphrase(call.world) : undefined;
    const passphrase = passphraseFile === undefined ? typed : passphraseIn(resolve(passphraseFile));

    return withStore(call, async (store) => {
      const { directory, records, siteKey, entry, newId, now } = store;
      const keys =
        passphrase === undefined ? undefined : { passphrase, texts: keyTexts(siteKey, masterKeyOf(store, call.world)) };
      call.world.yieldToOthers?.();
      const progress = progressOf(call);
      const id = newId.uuid();
      const { manifest, size, damaged } = await withBlobs(store, ({ blobs, nativeBinding }) =>
        makeBackup({
          ...{ directory, file, blobs, siteKey, id, now, version, keys, nativeBinding },
          since: since === undefined ? undefined : resolve(since),
          auditHead: () => records.audit.head(),
          progress: progress.at,
        }),
      ).finally(progress.end);
      const details = { id, since: manifest.since, blobs: manifest.blobs.length, keys: manifest.keys };
      await records.change({ ...entry('backup', `backup/${id}`), details }, () => Promise.resolve());
      const fresh = manifest.blobs.filter((blob) => blob.backup === id).length;
      return {
        text:
          `The backup is in ${file}: ${String(size)} bytes, ${String(fresh)} blobs` +
          (manifest.since === null
            ? '.'
            : `, and ${String(manifest.blobs.length - fresh)} that are in earlier backups.`) +
          (manifest.keys
            ? '\nIt holds the keys, under the passphrase.'
            : '\nIt holds no keys: without a copy of site.key it cannot be restored.') +
          damaged
            .map((sha3_384) => `\nThe blob ${sha3_384} is damaged and not in the backup; see 'larder help verify'.`)
            .join(''),
        json: {
          file,
          size,
          id,
          since: manifest.since,
          'made-at': manifest.madeAt,
          blobs: manifest.blobs.length,
          'blobs-in-this-file': fresh,
          'keys-included': manifest.keys,
          'audit-head': manifest.auditHead,
          damaged,
        },
        exitCode: damaged.length === 0 ? 0 : 1,
      };
    });
  },
});

function keyTexts(siteKey: Buffer, masterKey: KeyObject | undefined): KeyTexts {
  return {
    'site.key': `${siteKey.toString('base64')}\n`,
    ...(masterKey && { 'master.key': `${masterKey.export().toString('base64')}\n` }),
  };
}
