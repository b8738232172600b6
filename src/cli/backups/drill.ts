// larder backup drill
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { failDrill, recordDrill } from '#acts/store/appliance.ts';
import { closeArchives, siteKeyOf } from '#backup/archives.ts';
import type { KeyTexts } from '#backup/keys.ts';
import { readManifest } from '#backup/manifest.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { command, Failure, UsageError, type CommandResult } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { openBackupArchives } from './messages.ts';
import { bucketIn, openPlace } from './place.ts';
import { keyTextsIn, restoreInto } from './restore.ts';
import { chooseArchives } from './state.ts';
import { withWorkspace } from './workspace.ts';

export const backupDrill = command({
  name: 'backup drill',
  summary: 'Restore the newest backup of a folder, verify it, and remove the copy again.',
  description:
    'Proves that the store can be restored, and how long that takes. The copy is in the data directory, or beside the ' +
    "backups if there is no room. The result is in the audit log, and 'larder doctor' shows it. Run it while the store serves.",
  positionals: [{ name: 'folder', summary: 'The folder of backups, or the address of a bucket.' }],
  options: {
    keys: {
      type: 'string',
      value: 'DIR',
      summary:
        'The folder with the copy of site.key, to prove that it is the right one. Default: the key of the store.',
    },
  },
  examples: ['larder backup drill /srv/backups', 'larder backup drill /srv/backups --keys /media/safe'],

  async run(call) {
    const { keys: keyFolder } = call.options;
    const copied = keyFolder === undefined ? undefined : keyTextsIn(resolve(keyFolder));
    return withStore(call, async (store) => {
      const keys = copied ?? { 'site.key': `${store.siteKey.toString('base64')}\n` };
      const progress = createProgress(call);
      try {
        return await interruptible((signal) =>
          drill(store, { folder: call.positionals.folder, keys, progress, signal }),
        );
      } catch (error) {
        if (error instanceof UsageError) throw error;
        // A backup holds the lock, so nothing was tried.
        if (error instanceof Failure && error.code === 'backup-under-way') throw error;
        const because = (error instanceof Failure ? error.message : inOneSentence(error)).slice(0, 500);
        await store.acts.do(failDrill, store.person, { because }).catch(() => undefined);
        throw error;
      } finally {
        progress.end();
      }
    });
  },
});

type DrillOptions = Pick<Parameters<typeof restoreInto>[1], 'keys' | 'progress' | 'signal'> & {
  folder: string;
  keys: KeyTexts;
};

async function drill(store: OpenStore, { folder, keys, ...running }: DrillOptions): Promise<CommandResult> {
  const siteKey = siteKeyOf(keys);
  const place = await openPlace(folder, store);
  if (place === undefined) throw new UsageError('a drill needs a folder of backups');
  const { files } = await chooseArchives(folder, { place, base: [], at: undefined }, () => siteKey);
  const archives = await openBackupArchives(files, { open: place.open });
  try {
    const { file, tar } = archives[0]!;
    const manifest = await readManifest(file, tar, siteKey);
    const bytes = [...manifest.files, ...manifest.blobs].reduce((sum, { size }) => sum + size, 0);
    const began = performance.now();
    await withWorkspace(
      store,
      { file: bucketIn(folder) === undefined ? file : undefined, size: bytes },
      async (workspace) => {
        const copy = join(workspace, 'drill');
        const restoring = { archives, newest: undefined, keys, actor: store.actor, server: undefined, ...running };
        const { exitCode = 0, text } = await restoreInto(copy, restoring).finally(() =>
          rmSync(copy, { recursive: true, force: true }),
        );
        if (exitCode !== 0) throw new Failure(`the backup lacks content: ${text}`, { code: 'lacking' });
      },
    );
    const seconds = Math.round((performance.now() - began) / 1000);
    const result = { backup: manifest.id, 'made-at': manifest.madeAt, bytes, seconds };
    await store.acts.do(recordDrill, store.person, result);
    return {
      text:
        `The backup of ${manifest.madeAt} in ${file} was restored and verified: ${String(bytes)} bytes in ` +
        `${String(seconds)} s. The copy was removed.`,
      json: { file, ...result },
    };
  } finally {
    await closeArchives(archives);
    place.close();
  }
}
