// larder backup
import { isDiskFull } from '#domain/disk-full.ts';
import { formatCount } from '#domain/quantities.ts';
import type { KeyObject } from '#domain/cryptography.ts';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { failBackup, makeBackup as enterBackup } from '#acts/store/appliance.ts';
import { latestTimeSetting } from '#acts/store/clock.ts';
import { CannotRestore, closeArchives } from '#backup/archives.ts';
import type { FolderBackup } from '#backup/folder.ts';
import type { KeyTexts } from '#backup/keys.ts';
import { CorruptDatabase, makeBackup, NotAsWritten, type BackupResult } from '#backup/make.ts';
import { readManifest } from '#backup/manifest.ts';
import type { MergeOptions } from '#backup/merge.ts';
import { PlaceUnavailable, placeOfFile, type BackupPlace } from '#backup/place.ts';
import { NoRoom } from '#backup/target.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { lastBackups } from '#examinations/records.ts';
import { withBlobs } from '#data/blobs.ts';
import { copyForBackup } from '#data/copies.ts';
import { doubtOf } from '#jobs/store/remember-time.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import { checkBackup } from './check.ts';
import { keepNewest, keepThinned, newBackupFile, removeOldBackups } from './folder.ts';
import { describeUnchanged, planIncrement } from './increment.ts';
import { listNeededContents, withWorkspace } from './workspace.ts';
import { command, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { masterKeyOf, siteKeysOf } from '../keys/find-keys.ts';
import { lackingText, openBackupArchives, toArchiveFailure } from './messages.ts';
import { bucketIn, openPlace } from './place.ts';
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
  increment: {
    type: 'boolean',
    summary:
      'If FILE is a folder: leave out the blobs that are in the backups there, make a full one each week, and none if nothing has changed.',
  },
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
  thin: {
    type: 'boolean',
    summary:
      'If FILE is a folder: keep every backup of the last day, one per hour of a week and one per day of 92 days, and what they build on.',
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
    'larder backup /srv/backups --increment --keep 7',
    'larder backup ./moving.tar --include-keys --passphrase-file ./passphrase',
  ],

  async run(call) {
    const { options: callOptions, world } = call;
    const bucket = bucketIn(call.positionals.file);
    const path = bucket === undefined ? resolve(call.positionals.file) : call.positionals.file;
    if (bucket !== undefined && callOptions.check)
      throw new UsageError("--check reads a file; 'larder backup drill' proves the backups in a bucket");
    const isFile = statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
    const makesNone = callOptions.check && (isFile || isOfExisting(call));
    refuseContradictions(call, makesNone);
    if (makesNone) return checkBackup(call, { ...callOptions, file: path });
    if (bucket === undefined) await prepareDestination(call, path, isFile);
    const passphraseFile = callOptions['passphrase-file'];
    const typed = callOptions['include-keys'] && passphraseFile === undefined ? await newPassphrase(world) : undefined;
    const passphrase = passphraseFile === undefined ? typed : passphraseIn(resolve(passphraseFile));
    return withStore(
      call,
      async (store) => {
        let place: BackupPlace | undefined;
        try {
          place = await openPlace(path, store);
          const file = place === undefined ? path : await newBackupFile(place, store.now());
          return await backUp(call, store, { file, place, passphrase, isSent: bucket !== undefined });
        } catch (error) {
          await noteFailure(call, store, error);
          throw error instanceof PlaceUnavailable ? toArchiveFailure(error, path) : error;
        } finally {
          place?.close();
        }
      },
      { writesOutside: true },
    );
  },
});

/** Refuses a file that is there already. With `--keep`, creates a missing folder, so that the first nightly backup succeeds. */
async function prepareDestination(call: BackupCall, path: string, isFile: boolean): Promise<void> {
  try {
    if (isFile) throw new Failure(`${path} is there already; a backup overwrites nothing`);
    if (call.options.keep !== undefined && !existsSync(path) && !path.endsWith('.tar'))
      mkdirSync(path, { mode: 0o700 });
    if (existsSync(path)) return;
    for (const name of ['keep', 'increment', 'thin'] as const) {
      if (call.options[name] === undefined || call.options[name] === false) continue;
      if (name !== 'keep' && !path.endsWith('.tar'))
        throw new Failure(`there is no folder ${path}; mount it or make it, or name another one`, {
          code: 'no-folder',
        });
      throw new UsageError(`--${name} needs a folder in the place of FILE`);
    }
  } catch (thrown) {
    const error = thrown instanceof Failure || thrown instanceof UsageError ? thrown : cannotWrite(path, thrown);
    await withStore(call, (store) => noteFailure(call, store, error), { writesOutside: true }).catch(() => undefined);
    throw error;
  }
}

const cannotWrite = (path: string, cause: unknown): Failure =>
  new Failure(`cannot make the folder ${path}: ${inOneSentence(cause)}`, { code: 'cannot-write', cause });

/** Records a failed backup, which /readyz and 'larder doctor' then report; not at a terminal, where the person sees the error. */
async function noteFailure(
  { world, data, options: { increment } }: BackupCall,
  { acts, person, records }: OpenStore,
  error: unknown,
): Promise<void> {
  // A drill or another backup holds the lock for backups; the next increment follows.
  if (canAsk(world) || (increment && error instanceof Failure && error.code === 'backup-under-way')) return;
  const because = (error instanceof Failure ? error.message : inOneSentence(error, { data })).slice(0, 500);
  // Increments that fail every few minutes for one reason need one entry.
  const { failed } = increment ? await lastBackups(records) : {};
  if (failed !== undefined && (JSON.parse(failed.details) as { because?: string }).because === because) return;
  // A full disk or a corrupt database is reported as a fault of its own.
  await acts.do(failBackup, person, { because }).catch(() => undefined);
}

/** Whether the options concern an existing backup. */
const isOfExisting = ({ options: callOptions }: BackupCall): boolean =>
  callOptions.base.length > 0 || callOptions.keys !== undefined || callOptions['signed-by'] !== undefined;

function refuseContradictions(call: BackupCall, makesNone: boolean): void {
  const { options: callOptions, world } = call;
  const making = ['since', 'increment', 'include-keys', 'even-so', 'keep', 'thin'] as const;
  const wrong = making.find((name) => callOptions[name] !== undefined && callOptions[name] !== false);
  if (makesNone && wrong !== undefined) {
    throw new UsageError(`--${wrong} has no effect when --check reads a backup that exists`);
  }
  if (makesNone) return;
  if (isOfExisting(call)) throw new UsageError('--base, --keys and --signed-by have an effect only with --check');
  if (callOptions.increment && callOptions.since !== undefined)
    throw new UsageError('--increment finds the earlier backup in the folder; leave --since out');
  if (callOptions.thin && callOptions.keep !== undefined)
    throw new UsageError('--thin and --keep are two rules for the same folder; leave one out');
  if (callOptions['passphrase-file'] !== undefined && !callOptions['include-keys'])
    throw new UsageError('--passphrase-file is of use only with --include-keys');
  if (callOptions['include-keys'] && callOptions['passphrase-file'] === undefined && !canAsk(world))
    throw new UsageError('--include-keys needs --passphrase-file FILE if there is no terminal to ask at');
}

interface BackupDestination {
  file: string;
  /** The folder or bucket that the file is created in; undefined if the file was named. */
  place: BackupPlace | undefined;
  passphrase: string | undefined;
  /** Whether the place is a bucket. */
  isSent: boolean;
}

async function backUp(call: BackupCall, store: OpenStore, destination: BackupDestination): Promise<CommandResult> {
  const { records, siteKey, asCaller } = store;
  const { file, place } = destination;
  const { 'even-so': evenSo } = call.options;
  const plan = call.options.increment && place !== undefined ? await planIncrement(place, store) : undefined;
  if (plan?.base !== undefined && plan.isUnchanged) return describeUnchanged(plan.base);
  const since = plan?.base ?? (await readEarlier(call.options.since, store));
  const site = await siteOf(records, siteKeysOf(store, call.world));
  const signing = site && signsBackups(site);
  const sign = signing?.sign;
  const made = await makeArchive(call, store, { ...destination, since, sign });
  const good = made.lacking.length + made.problems.length === 0;
  const noted = await note(store, made);
  const checked = call.options.check ? await checkBackup(call, { file }, { siteKey, asCaller }) : undefined;
  const isRestorable = good && (checked?.exitCode ?? 0) === 0;
  const removed =
    isRestorable && place !== undefined ? await removeByRule(call, store, { ...destination, place, sign }) : [];
  const answer = answered(file, made, {
    exitCode: good || evenSo ? 0 : 1,
    notes: [
      ...(await lackingText(records, made)),
      ...(signing?.notes ?? []),
      ...noted,
      ...removed.map((old) => `${old} was removed.`),
    ],
    removed,
  });
  return checked === undefined ? answer : withCheck(answer, checked, evenSo);
}

async function makeArchive(
  call: BackupCall,
  store: OpenStore,
  {
    file,
    place,
    passphrase,
    isSent,
    ...building
  }: BackupDestination & Pick<Parameters<typeof makeBackup>[0], 'since' | 'sign'>,
): Promise<BackupResult> {
  const { records, siteKey, newId, asCaller } = store;
  const texts = keyTexts(siteKey, passphrase === undefined ? undefined : masterKeyOf(store, call.world));
  call.world.yieldToOthers?.();
  const progress = createProgress(call);
  if (store.database.server !== undefined) keepHeapSmall();
  const database = await databaseToCopy(store);
  const make = (workspace: string, signal: AbortSignal) =>
    withBlobs(
      store,
      ({ blobs, nativeBinding }) =>
        makeBackup({
          ...building,
          directory: store.directory,
          database,
          file,
          place: place ?? placeOfFile(file, { asCaller }),
          workspace,
          blobs: withoutDeltas(blobs, records),
          siteKey,
          id: newId.uuid(),
          now: store.now,
          version,
          nativeBinding,
          evenSo: call.options['even-so'],
          needed: listNeededContents,
          progress: progress.at,
          signal,
          keys: passphrase === undefined ? undefined : { passphrase, texts },
          auditHead: () => records.audit.head(),
          stillNeeded: (sha3_384) => records.neededContents.has(sha3_384),
        }),
      { onlyReads: true },
    );
  return interruptible((signal) =>
    withWorkspace(store, { file: isSent ? undefined : file, size: database.size }, (workspace) =>
      make(workspace, signal),
    ),
  )
    .catch((error: unknown) => withWriteErrors(file, () => Promise.reject(toBackupFailure(error) as Error)))
    .finally(progress.end);
}

async function databaseToCopy({ database }: OpenStore) {
  const { bytes, logBytes = 0 } = await database.size();
  return { size: bytes + logBytes, copyTo: copyForBackup(database.place) };
}

/** The manifest of an earlier backup that the caller names. */
async function readEarlier(
  since: string | undefined,
  { siteKey, asCaller }: OpenStore,
): Promise<FolderBackup | undefined> {
  if (since === undefined) return undefined;
  const file = resolve(since);
  const archives = await openBackupArchives([file], { asCaller });
  try {
    return { file, manifest: await readManifest(file, archives[0]!.tar, siteKey) };
  } finally {
    await closeArchives(archives);
  }
}

/** Removes old backups; with --thin, merges the ones that kept ones build on. */
async function removeByRule(
  { options: { keep, thin } }: BackupCall,
  store: OpenStore,
  { file, place, sign, isSent }: BackupDestination & { place: BackupPlace; sign: MergeOptions['sign'] },
): Promise<string[]> {
  const { siteKey, now, records } = store;
  if (keep !== undefined) return removeOldBackups(place, keepNewest(keep), { siteKey });
  const latestTime = thin ? await records.appliance.find(latestTimeSetting) : undefined;
  // By a wrong clock, every backup may be too old.
  if (!thin || (latestTime !== undefined && doubtOf(now(), latestTime) !== undefined)) return [];
  return interruptible((signal) =>
    withWorkspace(store, { file: isSent ? undefined : file, size: 0 }, (workspace) =>
      removeOldBackups(place, keepThinned(now()), { siteKey, merges: { workspace, sign, signal } }),
    ),
  ).catch((error: unknown) => {
    // Another backup was begun, which thins the same folder.
    if (error instanceof Failure && error.code === 'backup-under-way') return [];
    throw toBackupFailure(error);
  });
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
    if (!isDiskFull(error)) throw error;
    return ['It is not entered in the audit log: the disk of the store is full. Make room there.'];
  }
}

function toBackupFailure(error: unknown): unknown {
  if (error instanceof CorruptDatabase) {
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
  if (error instanceof CannotRestore || error instanceof PlaceUnavailable) return toArchiveFailure(error, '');
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
