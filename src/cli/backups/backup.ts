// larder backup
import { formatCount } from '#domain/quantities.ts';
import type { KeyObject } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { failBackup, makeBackup as enterBackup } from '#acts/store/appliance.ts';
import { closeArchives } from '#backup/archives.ts';
import type { KeyTexts } from '#backup/keys.ts';
import { DamagedDatabase, makeBackup, NotAsWritten, type BackupResult } from '#backup/make.ts';
import { NoRoom } from '#backup/target.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { withBlobs } from '#data/blobs.ts';
import { copyForBackup } from '#data/copies.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import { checkBackup } from './check.ts';
import { backupFileAt, removeOldBackups } from './folder.ts';
import { listNeededContents, withWorkspace } from './workspace.ts';
import { command, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { masterKeyOf } from '../keys/find-keys.ts';
import { lackingText, openBackupArchives } from './messages.ts';
import { interruptible } from '../frame/interruption.ts';
import { signsBackups } from '#transfers/backup-signatures.ts';
import { siteOf } from '#transfers/site.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import { newPassphrase, passphraseIn } from '../frame/passphrase.ts';
import { createProgress } from '../frame/progress.ts';
import { canAsk } from '../frame/questions.ts';
import { withStore, type OpenStore } from '../frame/store.ts';

const options = {
  since: { type: 'string', value: 'FILE', summary: 'An earlier backup; this one leaves out the blobs that it has.' },
  'include-keys': {
    type: 'boolean',
    summary: 'Include the site key and the signing master key, encrypted with a passphrase.',
  },
  'passphrase-file': {
    type: 'string',
    value: 'FILE',
    summary: 'The file with the passphrase in its first line. Default: ask at the terminal.',
  },
  'even-so': {
    type: 'boolean',
    summary: 'Exit with 0 although content is missing or damaged, and back up a damaged database as it is.',
  },
  keep: {
    type: 'integer',
    value: 'N',
    minimum: 1,
    maximum: 10_000,
    summary: 'If FILE is a folder: remove all but the newest N backups in it, after a successful one.',
  },
  check: {
    type: 'boolean',
    summary: 'Read the backup and prove that it can be restored: an existing FILE as it is, a new one once it is made.',
  },
  base: {
    type: 'string',
    value: 'FILE',
    repeated: true,
    summary: 'With --check: an earlier backup that this one builds on, to be read too.',
  },
  keys: {
    type: 'string',
    value: 'DIR',
    summary: 'With --check: the folder with the copy of site.key, if the store itself is not available.',
  },
  'signed-by': {
    type: 'string',
    value: 'FINGERPRINT',
    summary: "With --check, without any key: the fingerprint of the site that made it, as 'site show' prints it there.",
  },
} as const;

type BackupCall = CommandCall<typeof options, readonly [{ readonly name: 'file'; readonly summary: string }]>;

export const backup = command({
  name: 'backup',
  summary: 'Make a backup of the store in one file, also while the server runs, or check a backup.',
  description:
    'The file is a tar archive with the database as of one moment, the configuration, the certificates and every ' +
    'blob. A signed list of them comes last, so a truncated backup is never taken for a complete one. The ' +
    'command verifies the database and each blob against their digests, checks that every blob that the records ' +
    'refer to is there, and reads the file back before it gives it its name. Exit code 1 means that content is ' +
    'missing; the command lists it. site.key and master.key are not included: keep copies elsewhere, or include ' +
    'them under a passphrase with --include-keys. Without the site key a backup cannot be restored.',
  positionals: [
    { name: 'file', summary: 'The file to write, which must not be there yet; or a folder, and the time is its name.' },
  ],
  options,
  examples: [
    'larder backup /media/usb/larder-monday.tar',
    'larder backup /media/usb/larder-tuesday.tar --since /media/usb/larder-monday.tar',
    'larder backup /media/usb/larder-wednesday.tar --check',
    'larder backup --check /media/usb/larder-tuesday.tar --base /media/usb/larder-monday.tar',
    'larder backup /srv/backups --keep 7',
    'larder backup ./moving.tar --include-keys --passphrase-file ./passphrase',
  ],

  async run(call) {
    const { options: callOptions, world } = call;
    const path = resolve(call.positionals.file);
    const makesNone = callOptions.check && (existsSync(backupFileAt(path, new Date()).file) || isOfExisting(call));
    refuseContradictions(call, makesNone);
    if (makesNone) return checkBackup(call, { ...callOptions, file: path });
    const { file, folder } = await destinationOf(call, path);
    const passphraseFile = callOptions['passphrase-file'];
    const typed = callOptions['include-keys'] && passphraseFile === undefined ? await newPassphrase(world) : undefined;
    const passphrase = passphraseFile === undefined ? typed : passphraseIn(resolve(passphraseFile));
    return withStore(
      call,
      (store) =>
        backUp(call, store, { file, folder, passphrase }).catch(async (error: unknown) => {
          await noteFailure(call, store, error);
          throw error;
        }),
      { writesOutside: true },
    );
  },
});

/** The file to write. With `--keep`, creates a missing folder, so that the first nightly backup succeeds. */
async function destinationOf(call: BackupCall, path: string): Promise<ReturnType<typeof backupFileAt>> {
  try {
    if (call.options.keep !== undefined && !existsSync(path) && !path.endsWith('.tar'))
      mkdirSync(path, { mode: 0o700 });
    const destination = backupFileAt(path, new Date());
    if (call.options.keep !== undefined && destination.folder === undefined)
      throw new UsageError('--keep needs a folder in the place of FILE');
    if (existsSync(destination.file))
      throw new Failure(`${destination.file} is there already; a backup overwrites nothing`);
    return destination;
  } catch (thrown) {
    const error = thrown instanceof Failure || thrown instanceof UsageError ? thrown : cannotWrite(path, thrown);
    await withStore(call, (store) => noteFailure(call, store, error), { writesOutside: true }).catch(() => undefined);
    throw error;
  }
}

const cannotWrite = (path: string, cause: unknown): Failure =>
  new Failure(`cannot make the folder ${path}: ${inOneSentence(cause)}`, { code: 'cannot-write', cause });

/** Records a failed backup, which /readyz and 'larder doctor' then report; not at a terminal, where the person sees the error. */
async function noteFailure({ world, data }: BackupCall, { acts, person }: OpenStore, error: unknown): Promise<void> {
  if (canAsk(world)) return;
  const because = (error instanceof Failure ? error.message : inOneSentence(error, { data })).slice(0, 500);
  // A full disk or a corrupt database is reported as a fault of its own.
  await acts.do(failBackup, person, { because }).catch(() => undefined);
}

/** Whether the options concern an existing backup. */
const isOfExisting = ({ options: callOptions }: BackupCall): boolean =>
  callOptions.base.length > 0 || callOptions.keys !== undefined || callOptions['signed-by'] !== undefined;

function refuseContradictions(call: BackupCall, makesNone: boolean): void {
  const { options: callOptions, world } = call;
  const making = ['since', 'include-keys', 'even-so', 'keep'] as const;
  const wrong = making.find((name) => callOptions[name] !== undefined && callOptions[name] !== false);
  if (makesNone && wrong !== undefined) {
    throw new UsageError(`--${wrong} has no effect when --check reads a backup that exists`);
  }
  if (makesNone) return;
  if (isOfExisting(call)) throw new UsageError('--base, --keys and --signed-by have an effect only with --check');
  if (callOptions['passphrase-file'] !== undefined && !callOptions['include-keys'])
    throw new UsageError('--passphrase-file is of use only with --include-keys');
  if (callOptions['include-keys'] && callOptions['passphrase-file'] === undefined && !canAsk(world))
    throw new UsageError('--include-keys needs --passphrase-file FILE if there is no terminal to ask at');
}

interface BackupDestination {
  file: string;
  /** The folder of backups that the file is created in, if any. */
  folder: string | undefined;
  passphrase: string | undefined;
}

async function backUp(
  call: BackupCall,
  store: OpenStore,
  { file, folder, passphrase }: BackupDestination,
): Promise<CommandResult> {
  const { records, siteKey, newId, asCaller } = store;
  const { since, keep, 'even-so': evenSo } = call.options;
  const texts = keyTexts(siteKey, passphrase === undefined ? undefined : masterKeyOf(store, call.world));
  call.world.yieldToOthers?.();
  const progress = createProgress(call);
  const id = newId.uuid();
  const site = await siteOf(records, siteKey);
  if (store.database.server !== undefined) keepHeapSmall();
  const { bytes, logBytes = 0 } = await store.database.size();
  const database = { size: bytes + logBytes, copyTo: copyForBackup(store.database.place) };
  const base = since === undefined ? [] : await openBackupArchives([resolve(since)], asCaller);
  const make = (workspace: string, signal: AbortSignal) =>
    withBlobs(store, ({ blobs, nativeBinding }) =>
      makeBackup({
        directory: store.directory,
        database,
        file,
        workspace,
        blobs: withoutDeltas(blobs, records),
        siteKey,
        sign: site && signsBackups(site),
        id,
        now: store.now,
        version,
        nativeBinding,
        since: base[0],
        evenSo,
        asCaller,
        needed: listNeededContents,
        progress: progress.at,
        signal,
        keys: passphrase === undefined ? undefined : { passphrase, texts },
        auditHead: () => records.audit.head(),
        stillNeeded: (sha3_384) => records.neededContents.has(sha3_384),
      }),
    );
  const made = await interruptible((signal) =>
    withWorkspace(store, { file, size: database.size }, (workspace) => make(workspace, signal)),
  )
    .catch((error: unknown) => withWriteErrors(file, () => Promise.reject(toBackupFailure(error) as Error)))
    .finally(progress.end)
    .finally(() => closeArchives(base));
  const good = made.lacking.length + made.problems.length === 0;
  const noted = await note(store, made);
  const checked = call.options.check ? await checkBackup(call, { file }, { siteKey, asCaller }) : undefined;
  const isRestorable = good && (checked?.exitCode ?? 0) === 0;
  const removed =
    keep === undefined || folder === undefined || !isRestorable ? [] : await removeOldBackups(folder, keep, store);
  const answer = answered(file, made, {
    exitCode: good || evenSo ? 0 : 1,
    notes: [...(await lackingText(records, made)), ...noted, ...removed.map((old) => `${old} was removed.`)],
    removed,
  });
  return checked === undefined ? answer : withCheck(answer, checked, evenSo);
}

/** The answer for a backup that was made and then checked. */
const withCheck = (made: CommandResult, checked: CommandResult, evenSo: boolean): CommandResult => ({
  text: `${made.text}\n${checked.text}`,
  json: { ...(made.json as object), check: checked.json },
  exitCode: evenSo ? (made.exitCode ?? 0) : Math.max(made.exitCode ?? 0, checked.exitCode ?? 0),
});

/** Leaves deltas out: they can be built again, and the copy of the records names none. */
const withoutDeltas = (
  blobs: Blobs,
  { deltas }: OpenStore['records'],
): Pick<Blobs, 'list' | 'stat' | 'makeLocalCopy'> => ({
  makeLocalCopy: (sha3_384) => blobs.makeLocalCopy(sha3_384),
  stat: (sha3_384) => blobs.stat(sha3_384),
  async *list() {
    for await (const blob of blobs.list()) if (!(await deltas.isAll(blob.sha3_384))) yield blob;
  },
});

/** Writes the entry in the audit log. On a full disk it is left out: the backup is then the remedy, and valid without it. */
async function note(
  { acts, person }: OpenStore,
  { manifest: { id, since, blobs, keys }, lacking, sha256, size }: BackupResult,
): Promise<string[]> {
  try {
    const file = { sha256, bytes: size };
    await acts.do(enterBackup, person, { id, since, blobs: blobs.length, keys, lacking: lacking.length, ...file });
    return [];
  } catch (error) {
    if (!isFull(error)) throw error;
    return ['It is not entered in the audit log: the disk of the store is full. Make room there.'];
  }
}

function isFull(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && /^(?:SQLITE_FULL|ENOSPC|EDQUOT|insufficient-storage)$/.test(String(cause.code))) return true;
  }
  return false;
}

function toBackupFailure(error: unknown): unknown {
  if (error instanceof DamagedDatabase) {
    return new Failure(
      `${error.message}. No backup was made, so that none takes the place of a good one. Restore the last good backup ` +
        `('larder help restore'); with --even-so the database is backed up as it is, as evidence`,
      { code: 'database-damaged', cause: error },
    );
  }
  if (error instanceof NotAsWritten) {
    return new Failure(`${error.message}: its disk is not to be trusted. No backup was made; take another disk`, {
      code: 'not-as-written',
      cause: error,
    });
  }
  return error instanceof NoRoom ? new Failure(error.message, { code: 'no-room', cause: error }) : error;
}

function answered(
  file: string,
  { manifest, size, sha256, lacking, problems }: BackupResult,
  { exitCode, notes, removed }: { exitCode: number; notes: string[]; removed: string[] },
): CommandResult {
  const fresh = manifest.blobs.filter(({ backup }) => backup === manifest.id).length;
  const earlier = `, and ${String(manifest.blobs.length - fresh)} that are in earlier backups`;
  const keys = manifest.keys
    ? 'It holds the keys, under the passphrase.'
    : 'It holds no keys: without a copy of site.key it cannot be restored.';
  const summary = `${String(size)} bytes, ${formatCount(fresh, 'blob')}${manifest.since === null ? '' : earlier}`;
  return {
    text: [`The backup is in ${file}: ${summary}. It was read back as it was written.`, keys, ...notes].join('\n'),
    json: {
      file,
      size,
      sha256,
      id: manifest.id,
      since: manifest.since,
      'made-at': manifest.madeAt,
      blobs: manifest.blobs.length,
      'blobs-in-this-file': fresh,
      'keys-included': manifest.keys,
      'audit-head': manifest.auditHead,
      damaged: lacking.filter(({ why: reason }) => reason === 'damaged').map(({ sha3_384 }) => sha3_384),
      lacking,
      'database-problems': problems,
      removed,
    },
    exitCode,
  };
}

function keyTexts(siteKey: Buffer, masterKey: KeyObject | undefined): KeyTexts {
  return {
    'site.key': `${siteKey.toString('base64')}\n`,
    ...(masterKey && { 'master.key': `${masterKey.export().toString('base64')}\n` }),
  };
}
