// larder restore
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { KeyTexts } from '#backup/keys.ts';
import { NotOurs } from '#backup/manifest.ts';
import { CannotRestore, restoreBackup } from '#backup/restore.ts';
import { NotWhole } from '#backup/tar.ts';
import { timestamp } from '#domain/clock.ts';
import { verifyAudit } from '#records/audit.ts';
import { nativeBinding, openRecords, withBlobs } from '#src/appliance.ts';
import { lockDirectory } from '#src/lock.ts';
import { readConfig } from '#src/config.ts';
import { command, Failure, UsageError } from './command.ts';
import { askPassphrase, passphraseIn } from './passphrase.ts';
import { progressOf } from './progress.ts';
import { canAsk } from './questions.ts';
import { actorOf } from './store.ts';

const batch = 1000;

export const restore = command({
  name: 'restore',
  summary: 'Restore a backup into an empty data directory.',
  description:
    'Everything is written beside, held against its hashes and the signed list, and only then moved to its place: an ' +
    'interrupted restore leaves no store, and can be repeated. Tokens that were revoked after the backup are good ' +
    "again, so revoke them anew; 'larder audit list' of the old store tells which.",
  positionals: [{ name: 'file', summary: 'The backup.' }],
  options: {
    base: { type: 'string', value: 'FILE', repeated: true, summary: 'An earlier backup that it builds on.' },
    keys: { type: 'string', value: 'DIR', summary: 'The folder with the copies of site.key and master.key.' },
    'passphrase-file': {
      type: 'string',
      value: 'FILE',
      summary: 'The file whose first line is the passphrase of the keys in the backup; without it a terminal is asked.',
    },
  },
  examples: [
    'larder restore /media/usb/larder-monday.tar --data /var/lib/larder --keys /media/safe',
    'larder restore ./tuesday.tar --base ./monday.tar --data ./data --passphrase-file ./passphrase',
  ],

  async run(call) {
    const { data, world } = call;
    const { base, keys: folder, 'passphrase-file': passphraseFile } = call.options;
    const one = "'restore' needs --keys DIR, or --passphrase-file FILE for a backup that holds its keys";
    if (folder !== undefined && passphraseFile !== undefined) throw new UsageError(`${one}, not both`);
    if (folder === undefined && passphraseFile === undefined && !canAsk(world)) throw new UsageError(one);
    const keys =
      folder !== undefined
        ? { texts: keyTexts(resolve(folder)) }
        : {
            passphrase:
              passphraseFile === undefined
                ? await askPassphrase(world, 'the keys in the backup')
                : passphraseIn(resolve(passphraseFile)),
          };
    const actor = actorOf(world);
    const progress = progressOf(call);
    try {
      const manifest = await restoreBackup({
        file: resolve(call.positionals.file),
        bases: base.map((file) => resolve(file)),
        directory: data,
        nativeBinding: nativeBinding(),
        keys,
        progress: progress.at,
        finish: (directory) => finish(directory, actor),
      });
      progress.end();
      return {
        text:
          `The store of ${manifest.madeAt} is restored in ${data}: ${String(manifest.blobs.length)} blobs, everything held against its hash.\n` +
          `'larder serve --data ${data}' serves it.`,
        json: {
          data,
          'made-at': manifest.madeAt,
          id: manifest.id,
          blobs: manifest.blobs.length,
          'audit-head': manifest.auditHead,
        },
      };
    } catch (error) {
      progress.end();
      if (error instanceof NotWhole || error instanceof NotOurs || error instanceof CannotRestore) {
        throw new Failure(error.message, { code: 'cannot-restore', cause: error });
      }
      throw error;
    }
  },
});

function keyTexts(folder: string): KeyTexts {
  const texts: KeyTexts = {};
  for (const name of ['site.key', 'master.key']) {
    const file = join(folder, name);
    if (existsSync(file)) texts[name] = readFileSync(file, 'utf8');
  }
  if (texts['site.key'] === undefined)
    throw new Failure(`there is no site.key in ${folder}; without it nothing can be restored`);
  return texts;
}

/** Proves the audit log, forgets uploads that went away while the backup was made, and says in the log that it was restored. */
async function finish(directory: string, actor: string): Promise<void> {
  const lock = lockDirectory(directory);
  const { records, close } = await openRecords(directory, { held: true });
  try {
    const siteKey = Buffer.from(readFileSync(join(directory, 'site.key'), 'utf8').trim(), 'base64');
    const { problems } = await verifyAudit(records.audit, { siteKey });
    if (problems.length > 0) throw new CannotRestore(`the audit log in the backup is damaged: ${problems[0]!}`);
    const config = readConfig(join(directory, 'larder.toml'));
    const gone = await withBlobs({ directory, config }, async ({ blobs }) => {
      const missing: string[] = [];
      for (let after = ''; ;) {
        const some = await records.uploads.contents(after, batch);
        for (const content of some) if ((await blobs.stat(content)) === undefined) missing.push(content);
        if (some.length < batch) return missing;
        after = some.at(-1)!;
      }
    });
    const entry = { at: timestamp(new Date()), actor, action: 'restore', object: 'store' };
    await records.change(entry, async (tx, note) => {
      let forgotten = 0;
      for (const content of gone)
        for (const { id } of await tx.uploads.unclaimedWith(content)) forgotten += Number(await tx.uploads.forget(id));
      note({ forgotten });
    });
  } finally {
    await close();
    lock.close();
  }
}
