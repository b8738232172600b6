// larder go-back
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rollBackUpgrade as enterGoingBack } from '#acts/store/appliance.ts';
import { listUpgradeCopies, rollBackDatabase, upgradesFolder } from '#backup/upgrade-copies.ts';
import { timestamp } from '#domain/clock.ts';
import { checkDatabase, migrationsIn } from '#engine/sqlite/check.ts';
import { unknownMigrations } from '#engine/migrate.ts';
import { openRecords } from '#data/records.ts';
import { migrations } from '#data/upgrade.ts';
import { nativeBinding } from '#platform/native.ts';
import { DataDirectoryInUse, lockDirectory } from '#data/lock.ts';
import { readSiteKey } from '#data/secrets.ts';
import { version } from '#platform/version.ts';
import { command, dataInUse, Failure } from '../frame/command.ts';
import { becomeOwner } from '../frame/owner.ts';
import { actorOf, refuseOnServer } from '../frame/store.ts';

export const goBack = command({
  name: 'go-back',
  summary: 'Restore the records as they were before an upgrade.',
  description:
    'Run this with the older release, installed again, while the store is not served. Changes since the upgrade ' +
    'are lost: make names, uploads and releases of that time again. Tokens that were revoked since the upgrade ' +
    'are valid again. The database of that time is kept beside the copies, in before-upgrade.',
  positionals: [
    { name: 'file', optional: true, summary: 'The copy to restore. Default: the latest in before-upgrade.' },
  ],
  examples: ['larder go-back', 'larder go-back /var/lib/larder/before-upgrade/0022-example.db --json'],

  async run({ positionals, data, world }) {
    const actor = actorOf(world);
    const chosenFile = positionals.file === undefined ? undefined : resolve(positionals.file);
    becomeOwner(data);
    refuseOnServer(data, 'restore the database there as it was before the upgrade, and start the older release');
    const file = chosenFile ?? listUpgradeCopies(data)[0];
    if (file === undefined) throw new Failure(`there is no copy from before an upgrade in ${data}`);
    if (!existsSync(file)) throw new Failure(`there is no ${file}`);
    const lock = lockOf(data);
    try {
      const binding = { nativeBinding: nativeBinding() };
      requireFitting(file, migrationsIn(file, binding));
      const problems = checkDatabase(file, binding);
      if (problems.length > 0) throw new Failure(`${file} is damaged: ${problems[0]!}; nothing was changed`);
      const at = timestamp(new Date());
      const aside = join(data, upgradesFolder, `left-${at.replaceAll(/[-:]|\.\d+/g, '')}.db`);
      const siteKey = readSiteKey({
        directory: data,
        credentials: world.env['CREDENTIALS_DIRECTORY'],
        masterKeyFile: undefined,
      });
      const finish = async (database: string): Promise<void> => {
        const { acts, close } = await openRecords(data, { held: true, siteKey, place: { file: database } });
        await acts.beginAnew(enterGoingBack, { actor }, undefined).finally(close);
      };
      await rollBackDatabase(data, file, aside, { ...binding, finish });
      return {
        text: `The records are as they were before the upgrade.\nThe database since then is kept in ${aside}. Remove it when you no longer need it.`,
        json: { data, 'put-back': file, 'kept-aside': aside },
      };
    } finally {
      lock.close();
    }
  },
});

/** Requires a copy with the migrations of this release: opening an older copy would upgrade it again. */
function requireFitting(file: string, done: readonly string[]): void {
  if (unknownMigrations(done, migrations()).length > 0) {
    throw new Failure(`${file} was written by a newer release than larder ${version}`, { code: 'wrong-release' });
  }
  if (migrations().some(({ name }) => !done.includes(name))) {
    throw new Failure(
      `larder ${version} would upgrade ${file} again: install the release that wrote it, then run this with that one`,
      { code: 'wrong-release' },
    );
  }
}

function lockOf(data: string): { close(): unknown } {
  try {
    return lockDirectory(data);
  } catch (error) {
    throw error instanceof DataDirectoryInUse ? dataInUse(data) : error;
  }
}
