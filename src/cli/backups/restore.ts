// larder restore
import { formatCount } from '#domain/quantities.ts';
import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { restore as enterRestore } from '#acts/store/appliance.ts';
import { CannotRestore, closeArchives, keysIn, siteKeyOf, type OpenArchive } from '#backup/archives.ts';
import type { FolderBackup } from '#backup/folder.ts';
import type { KeyTexts } from '#backup/keys.ts';
import { readManifest } from '#backup/manifest.ts';
import type { BackupPlace } from '#backup/place.ts';
import { attemptIn, restoreBackup } from '#backup/restore.ts';
import { confirmRecordsCopy, removeRecordsCopy } from '#data/copies.ts';
import { randomIds } from '#domain/ids.ts';
import { shellWord } from '#domain/shell-word.ts';
import { missingContents } from '#integrity/verify.ts';
import { describeAddressText } from '#contract/postgres-address.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { nativeBinding } from '#platform/native.ts';
import { openRecords } from '#data/records.ts';
import { withBlobs } from '#data/blobs.ts';
import { lockDirectory } from '#data/lock.ts';
import { readSiteKey } from '#data/secrets.ts';
import { readConfig } from '#configuration/config.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { command, Failure, UsageError, type CommandResult, type World } from '../frame/command.ts';
import {
  copyRecordsToServer,
  namedServer,
  configurePlaces,
  requireEmpty,
  serverOptions,
  type FormerPlaces,
  type NamedServer,
} from './records-server.ts';
import { nameOf, openBackupArchives, toArchiveFailure } from './messages.ts';
import { bucketOptions, openPlaceToRestore } from './place.ts';
import { toWriteFailure, withWriteErrors } from '../frame/outside-files.ts';
import { interruptible } from '../frame/interruption.ts';
import { howToServe, makeForOwner } from '../frame/owner.ts';
import { restoreMissing } from './restore-missing.ts';
import { chooseArchives, describeLostChanges, listLostChanges } from './state.ts';
import { askPassphrase, passphraseIn } from '../frame/passphrase.ts';
import { createProgress, type ProgressReporter } from '../frame/progress.ts';
import { canAsk } from '../frame/questions.ts';
import { actorOf } from '../frame/store.ts';
import { maxListed, otherItems } from '../frame/terminal.ts';

/** The default data directory. */
const standard = '/var/lib/larder';

interface KeyOptions {
  readonly keys: string | undefined;
  readonly 'passphrase-file': string | undefined;
}

export const restore = command({
  name: 'restore',
  summary: 'Restore a backup into an empty data directory.',
  description:
    'The command writes all files to a temporary place, verifies them against their digests and the signed list, ' +
    'and only then moves them to their place. An interrupted restore leaves no store and can be repeated. Tokens ' +
    "that were revoked after the backup are valid again: revoke them again; 'larder audit list' of the old store " +
    'lists them. A restore that fails, or that Ctrl-C or SIGTERM ends, leaves no files. Content that the backup ' +
    'lacks is listed, with exit code 1.',
  positionals: [{ name: 'file', summary: 'The backup; or a folder or bucket of backups, for the newest one there.' }],
  options: {
    missing: {
      type: 'boolean',
      summary: 'Restore no store: fetch missing blobs of the store in the data directory from the backup.',
    },
    at: {
      type: 'string',
      value: 'TIME',
      summary:
        'If FILE is a folder or bucket: the newest state that is not after this time in UTC, such as "2026-11-25 14:05".',
    },
    base: { type: 'string', value: 'FILE', repeated: true, summary: 'An earlier backup that this one builds on.' },
    keys: { type: 'string', value: 'DIR', summary: 'The folder with the copies of site.key and master.key.' },
    'passphrase-file': {
      type: 'string',
      value: 'FILE',
      summary:
        'The file with the passphrase of the keys in the backup in its first line. Default: ask at the terminal.',
    },
    ...bucketOptions,
    ...serverOptions,
  },
  examples: [
    'larder restore /media/usb/larder-monday.tar --data /var/lib/larder --keys /media/safe',
    'larder restore ./monday.tar --data ./data --keys ./keys --postgres postgres://larder@db.internal/larder',
    'larder restore ./tuesday.tar --base ./monday.tar --data ./data --passphrase-file ./passphrase',
    'larder restore /srv/backups --at "2026-11-25 14:05" --data ./data --keys /media/safe',
    'larder restore https://s3.internal:8080/larder-backups --data ./data --keys ./keys --s3-credentials ./s3-credentials.toml',
    'larder restore /media/usb/larder-monday.tar --missing',
  ],

  async run(call) {
    const { data, world } = call;
    if (call.options.missing) {
      if (call.options.keys !== undefined || call.options['passphrase-file'] !== undefined)
        throw new UsageError('--missing takes no keys: the store has its own');
      if (call.options.postgres !== undefined)
        throw new UsageError('--missing takes no --postgres: the store has its records');
      if (call.options.at !== undefined) throw new UsageError('--missing takes no --at: it restores no state');
      return restoreMissing(call, [call.positionals.file, ...call.options.base]);
    }
    const actor = actorOf(world);
    const server = namedServer(call.options, world);
    if (server !== undefined) keepHeapSmall();
    const { keys: folder } = call.options;
    const { file: path } = call.positionals;
    const place = await openPlaceToRestore(path, call.options);
    const { files, newest } = await chooseArchives(path, { ...call.options, place }, () =>
      folder === undefined ? undefined : siteKeyOf(keyTextsIn(resolve(folder))),
    );
    const archives = await openBackupArchives(files, { open: place?.open });
    try {
      const keys = await keysFor(call, archives[0]!);
      const progress = createProgress(call);
      const restoring = { archives, place, newest, keys, actor, progress, server };
      return await interruptible((signal) => restoreInto(data, { ...restoring, signal }));
    } finally {
      await closeArchives(archives);
      place?.close();
    }
  },
});

interface RestoreContext {
  archives: readonly OpenArchive[];
  /** The folder or bucket of the archives; undefined if they were named. */
  place?: BackupPlace | undefined;
  newest: FolderBackup | undefined;
  keys: KeyTexts;
  actor: string;
  progress: ProgressReporter;
  signal: AbortSignal;
  /** The server for the records; default: a file. */
  server: NamedServer | undefined;
}

export async function restoreInto(data: string, restoring: RestoreContext): Promise<CommandResult> {
  const { archives, place, newest, keys, progress, signal, server } = restoring;
  // The files to read are open by now; from here on, everything belongs to the user that will serve the store.
  const chosen = newest && (await readManifest(archives[0]!.file, archives[0]!.tar, siteKeyOf(keys)));
  const lost = chosen && (await listLostChanges(newest, chosen, place).catch(() => undefined));
  const made = await withWriteErrors(data, () => makeForOwner(data));
  const attempt = server && (attemptIn(data) ?? randomIds.uuid());
  if (server && attempt !== undefined) {
    await requireEmpty(server.place, attempt).catch((error: unknown) => {
      if (made) leave(data);
      throw error;
    });
  }
  let outcome: RestoreOutcome = { lacking: [], before: { records: undefined, blobs: undefined } };
  const manifest = await restoreBackup({
    archives,
    directory: data,
    keys,
    nativeBinding: nativeBinding(),
    progress: progress.at,
    signal,
    attempt,
    async finish(directory) {
      outcome = await finish(directory, restoring, attempt);
    },
  })
    .catch(async (error: unknown) => {
      if (made) leave(data);
      if (server && attempt !== undefined) await removeRecordsCopy(server.place, attempt).catch(() => undefined);
      throw toRestoreFailure(error, archives[0]!.file, data);
    })
    .finally(progress.end);
  if (server) await confirmRecordsCopy(server.place);
  const { lacking, before } = outcome;
  const count = manifest.blobs.length;
  return {
    text:
      `The store of ${manifest.madeAt} is restored in ${data}: ${formatCount(count, 'blob')}, everything verified against its digest.\n` +
      placesText(server, before) +
      lackingText(lacking) +
      (newest === undefined ? '' : describeLostChanges(lost, newest)) +
      `${howToServe(data)} serves it. 'larder admin-macaroon${data === standard ? '' : ` --data ${shellWord(data)}`}' makes a credential ` +
      `for the store administrator: no backup holds one.`,
    json: {
      data,
      'made-at': manifest.madeAt,
      id: manifest.id,
      blobs: count,
      'audit-head': manifest.auditHead,
      postgres: server?.postgres ?? null,
      lacking,
      ...(lost && { lost }),
    },
    exitCode: lacking.length === 0 ? 0 : 1,
  };
}

/** Describes the places of records and blobs that are, or were, outside of the data directory. */
function placesText(server: NamedServer | undefined, { records, blobs }: FormerPlaces): string {
  const were = (place: string | undefined): string =>
    place === undefined ? '' : `; they were in ${place} when the backup was made`;
  const place = server === undefined ? 'larder.db there' : describeAddressText(server.postgres);
  const isToBeSaid = server !== undefined || records !== undefined;
  return (
    (isToBeSaid ? `Its records are in ${place}${were(records)}.\n` : '') +
    (blobs === undefined ? '' : `Its blobs are in a folder there${were(blobs)}.\n`)
  );
}

function lackingText(names: readonly string[]): string {
  if (names.length === 0) return '';
  return [
    `${formatCount(names.length, 'item is', 'items are')} not in the backup and missing from here on:`,
    ...names.slice(0, maxListed).map((name) => `  ${name}`),
    ...otherItems(names.length),
    "Upload the same files again, or fetch them from an earlier backup: 'larder restore FILE --missing'.\n",
  ].join('\n');
}

/** Removes the directory that this command created, if its owner may. */
function leave(data: string): void {
  try {
    rmdirSync(data);
  } catch {
    // An empty directory does no harm.
  }
}

/** Turns an error into a Failure for an unusable backup or for a target that cannot be written. */
function toRestoreFailure(error: unknown, file: string, data: string): unknown {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'read' || !(error instanceof Error && 'syscall' in error)
    ? toArchiveFailure(error, file)
    : toWriteFailure(data, error);
}

async function keysFor(
  { options, world }: { options: KeyOptions; world: World },
  archive: OpenArchive,
): Promise<KeyTexts> {
  const { keys: folder, 'passphrase-file': passphraseFile } = options;
  const usage = "'restore' needs --keys DIR, or --passphrase-file FILE for a backup that holds its keys";
  if (folder !== undefined && passphraseFile !== undefined) throw new UsageError(`${usage}, not both`);
  if (folder === undefined && passphraseFile === undefined && !canAsk(world)) throw new UsageError(usage);
  if (folder !== undefined) return keyTextsIn(resolve(folder));
  const passphrase =
    passphraseFile === undefined
      ? await askPassphrase(world, 'the keys in the backup')
      : passphraseIn(resolve(passphraseFile));
  try {
    return await keysIn(archive, passphrase);
  } catch (error) {
    throw toRestoreFailure(error, archive.file, archive.file);
  }
}

/** Reads the key files in a folder. */
export function keyTextsIn(folder: string): KeyTexts {
  const texts: KeyTexts = {};
  for (const name of ['site.key', 'master.key', 'audit.seal'] as const) {
    const file = join(folder, name);
    if (existsSync(file)) texts[name] = readFileSync(file, 'utf8');
  }
  if (texts['site.key'] === undefined)
    throw new Failure(`there is no site.key in ${folder}; without it nothing can be restored`);
  return texts;
}

interface RestoreOutcome {
  /** The names of the contents that the records need and the backup lacks. */
  lacking: string[];
  /** The former places of the store, if they differ from the present ones. */
  before: FormerPlaces;
}

/**
 * Verifies the audit log, removes the records of uploads that disappeared during the backup, and adds the restore to the log;
 * then moves the records to their server, if there is one.
 */
async function finish(
  directory: string,
  { actor, server, progress, signal }: RestoreContext,
  attempt: string | undefined,
): Promise<RestoreOutcome> {
  const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
  const lock = lockDirectory(directory);
  try {
    const before = configurePlaces(directory, server);
    const lacking = await finishRecords(directory, actor, siteKey);
    if (server && attempt !== undefined) {
      const reportRows = (rows: number): void => {
        progress.at('records', rows, 0);
        signal.throwIfAborted();
      };
      await copyRecordsToServer(directory, { server, attempt, siteKey, progress: reportRows });
    }
    return { lacking, before };
  } finally {
    lock.close();
  }
}

async function finishRecords(directory: string, actor: string, siteKey: Buffer): Promise<string[]> {
  const { records, acts, upgrade, close } = await openRecords(directory, { held: true, siteKey });
  try {
    // The seal file is of the newest state, so an upgrade of the restored records cannot seal its row; the restore does.
    const { problems } = await verifyAudit(records, { siteKey, upgraded: upgrade !== undefined });
    if (problems.length > 0) throw new CannotRestore(`the audit log in the backup is damaged: ${problems[0]!}`);
    const config = readConfig(join(directory, 'larder.toml'));
    const gone = await withBlobs({ directory, config, records, now: () => new Date() }, ({ blobs }) =>
      missingContents(records, blobs),
    );
    const needed = await acts.beginAnew(enterRestore, { actor }, { gone });
    return await Promise.all(needed.map((content) => nameOf(records, content)));
  } finally {
    await close();
  }
}
