// Makes a backup alongside a serving store: a snapshot of the database, the configuration, the certificates, every blob that an earlier
// backup does not have, and the manifest last. Compares the blobs with the needs of the records, and reads the archive back. The archive
// gets its name only when it is complete, verified and durable.
import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';

import { withFile, type Blobs, type StoredBlob } from '#blobs/blobs.ts';
import { listBlobs } from '#blobs/list-blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { isEngineUnavailable } from '#domain/refusal.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { checkDatabase, type SqliteFileOptions } from '#engine/sqlite/check.ts';
import { closeArchives, openArchives, readArchives } from './archives.ts';
import { checkArchives } from './check.ts';
import { listParts, type FolderBackup } from './folder.ts';
import { listNames } from '#files/read.ts';
import { keysName, lockKeys, type KeyTexts } from './keys.ts';
import { signedManifest, type BackedUpBlob, type BackedUpFile } from './manifest.ts';
import type { MissingBackupBlob, Manifest, ManifestSignature } from './manifest.ts';
import { placeOfFile, type BackupPlace } from './place.ts';
import { CannotReadSource, writeTar, type TarWriter } from './tar.ts';
import { mebibytes, NoRoom, requireRoom, roomIn, type FileSystemSpace, type BackupTarget } from './target.ts';

export interface BackupOptions extends SqliteFileOptions {
  /** The data directory. */
  directory: string;
  /** The size of the records, and a function that copies a snapshot of them to a file that does not exist yet. */
  database: {
    size: number;
    copyTo: (file: string, progress: (done: number, total: number) => void) => Promise<void>;
  };
  /** The archive to write, which does not exist yet. */
  file: string;
  /** An empty folder for the copy of the database, owned by the store. */
  workspace: string;
  blobs: Pick<Blobs, 'list' | 'stat' | 'makeLocalCopy'>;
  siteKey: Buffer;
  /** Signs the manifest with the key that other sites trust, if the site has one. */
  sign?: ((text: string) => Promise<ManifestSignature | undefined>) | undefined;
  /** An earlier backup. Its blobs are left out. */
  since?: FolderBackup | undefined;
  keys?: { texts: KeyTexts; passphrase: string } | undefined;
  /** Whether to back up a corrupt database as well. */
  evenSo: boolean;
  auditHead: () => Promise<{ seq: number; hash: string } | undefined>;
  /** Returns the digests that the records of a database need. The database is `larder.db` in this folder. */
  needed: (folder: string) => Promise<string[]>;
  /** Returns whether the store itself still needs a blob. */
  stillNeeded: (sha3_384: string) => Promise<boolean>;
  /** The place of the file; default: its folder, with the rights of this process. */
  place?: Pick<BackupPlace, 'asCaller' | 'begin' | 'roomFor'>;
  id: string;
  now: Now;
  version: string;
  progress: (step: string, done: number, total: number) => void;
  /** Aborts the backup before the archive has its name. The backup then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  room?: (folder: string) => FileSystemSpace;
}

export interface BackupResult {
  manifest: Manifest;
  /** Bytes of the archive. */
  size: number;
  /** Digest of the whole file. */
  sha256: string;
  /** Blobs that the store needs and the backup does not have. */
  lacking: MissingBackupBlob[];
  /** Problems of the copied database. */
  problems: string[];
}

/** The database is corrupt, so a copy of it is no backup. */
export class CorruptDatabase extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the database is damaged: ${problems[0]!}`);
    this.name = 'CorruptDatabase';
    this.problems = problems;
  }
}

/** The bytes that were read back differ from the written ones. */
export class NotAsWritten extends Error {
  constructor(file: string) {
    super(`${file} does not hold the bytes that were written to it`);
    this.name = 'NotAsWritten';
  }
}

export async function makeBackup(options: BackupOptions): Promise<BackupResult> {
  const { file, siteKey, workspace, signal, since: base, place = placeOfFile(file, {}) } = options;
  const { asCaller } = place;
  // Read the head before the copy, so that the copy contains at least this head.
  const auditHead = (await options.auditHead()) ?? null;
  const copy = await copyOf(options);
  const stored: StoredBlob[] = [];
  for await (const blob of listBlobs(options.blobs, copy.needed)) stored.push(blob);
  const earlier = base && new Map(base.manifest.blobs.map((blob) => [blob.sha3_384, blob]));
  const { unchanged, fresh } = await splitBlobs(stored, earlier, options.blobs);
  const folder = place.roomFor(workspace);
  requireRoom(folder, await estimated(copy.file, fresh, stored.length), (options.room ?? roomIn)(folder));

  const target = await asCaller(() => place.begin(file, { workspace, siteKey, signal }));
  try {
    const tar = writeTar(target.handle, options.now(), signal);
    const addedFiles = await addFiles(tar, copy.file, options);
    await rm(copy.file);
    const { listed, unfit } = await addBlobs(tar, fresh, options);
    const blobs = [...unchanged, ...listed];
    const lacking = await listMissingBlobs(copy.needed, blobs, unfit, options);
    const manifest: Manifest = {
      format: 1,
      id: options.id,
      madeAt: timestamp(options.now()),
      version: options.version,
      since: base?.manifest.id ?? null,
      auditHead,
      siteKeyFingerprint: fingerprintOf(siteKey),
      keys: options.keys !== undefined,
      files: addedFiles,
      blobs,
      lacking,
      ...(base !== undefined && dirname(base.file) === dirname(file)
        ? { builtOn: listParts({ id: options.id, blobs }, base) }
        : {}),
    };
    const { name, content } = await signedManifest(manifest, siteKey, options.sign);
    await tar.add(name, content.length, Readable.from([content]));
    const sha256 = await tar.finish();
    await readBack(target, options, asCaller);
    const { size } = await target.handle.stat();
    signal?.throwIfAborted();
    await asCaller(() => target.place());
    return {
      manifest,
      size,
      sha256,
      lacking: lacking.filter(({ why: reason }) => reason !== 'forgotten'),
      problems: copy.problems,
    };
  } catch (error) {
    await asCaller(() => target.discard());
    throw error;
  }
}

interface DatabaseCopy {
  file: string;
  problems: string[];
  /** The SHA3-384 digests of the blobs that the records of the copy need. */
  needed: string[];
}

/** Copies a snapshot of the database and checks the copy. */
async function copyOf({ database, workspace, progress, signal, ...options }: BackupOptions): Promise<DatabaseCopy> {
  const file = join(workspace, 'larder.db');
  const reportProgress = (done: number, total: number): void => {
    progress('database', done, total);
    signal?.throwIfAborted();
  };
  await database.copyTo(file, reportProgress).catch((error: unknown) => {
    if (isDamage(error)) throw new CorruptDatabase([error.message]);
    throw isFull(error) ? new NoRoom(noRoomForCopy(database.size, workspace), { cause: error }) : error;
  });
  const problems = checkDatabase(file, { nativeBinding: options.nativeBinding });
  if (problems.length > 0 && !options.evenSo) throw new CorruptDatabase(problems);
  // A corrupt database cannot be queried.
  const needed = problems.length > 0 ? [] : await options.needed(workspace);
  return { file, problems, needed };
}

/** Returns whether SQLite reports a corrupt database. */
const isDamage = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^SQLITE_(?:CORRUPT|NOTADB)/.test(String(error.code));

const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL';

const noRoomForCopy = (size: number, workspace: string): string =>
  `a copy of the database takes ${mebibytes(size)} while the backup is made, and ` +
  `${dirname(workspace)} has no room for it; make room there, or on the disk of the store`;

/** Estimates the size of the archive, rather too large than too small. */
async function estimated(copy: string, blobs: readonly StoredBlob[], listed: number): Promise<number> {
  const [headAndPadding, line, rest] = [1024, 256, 1024 * 1024];
  const { size } = await stat(copy);
  return blobs.reduce((sum, blob) => sum + blob.size + headAndPadding, size + listed * line + rest);
}

async function addFiles(tar: TarWriter, copy: string, options: BackupOptions): Promise<BackedUpFile[]> {
  const { directory, keys } = options;
  const files: BackedUpFile[] = [];
  const addFile = async (name: string, path: string): Promise<void> => {
    const { size } = await stat(path);
    const { sha256 } = await tar.add(name, size, createReadStream(path, { highWaterMark: 1024 * 1024 }));
    files.push({ name, size, sha256 });
  };
  await addFile('larder.db', copy);
  await addFile('larder.toml', join(directory, 'larder.toml'));
  for (const name of certificates(directory)) await addFile(`tls/${name}`, join(directory, 'tls', name));
  if (keys !== undefined) {
    const locked = lockKeys(keys.texts, keys.passphrase);
    const { size, sha256 } = await tar.add(keysName, locked.length, Readable.from([locked]));
    files.push({ name: keysName, size, sha256 });
  }
  return files;
}

/** Adds the intact blobs; corrupt and unreadable ones are left out. */
async function addBlobs(
  tar: TarWriter,
  toAdd: readonly StoredBlob[],
  { blobs, id, progress }: BackupOptions,
): Promise<{ listed: BackedUpBlob[]; unfit: Map<string, MissingBackupBlob['why']> }> {
  const listed: BackedUpBlob[] = [];
  const unfit = new Map<string, MissingBackupBlob['why']>();
  const total = toAdd.reduce((sum, { size }) => sum + size, 0);
  let bytes = 0;
  for (const { sha3_384, size } of toAdd) {
    try {
      // Use the size of the local copy: the listing may be out of date.
      const added = await withFile(blobs, sha3_384, async (file) => {
        const opened = await openIfThere(file);
        return opened && tar.add(`blobs/${sha3_384}`, opened.size, opened.source, { sha3: true });
      });
      // An unclaimed upload may have been deleted since the listing.
      if (added === undefined) continue;
      if (added.sha3_384 === sha3_384) listed.push({ sha3_384, size: added.size, backup: id });
      else {
        await tar.takeBack();
        unfit.set(sha3_384, 'damaged');
      }
    } catch (error) {
      unfit.set(sha3_384, await whyUnfit(error, sha3_384, blobs));
    }
    bytes += size;
    progress('blobs', bytes, total);
  }
  return { listed, unfit };
}

/** Returns why a blob is left out. Throws the error if it is not about this blob. */
async function whyUnfit(
  error: unknown,
  sha3_384: string,
  blobs: BackupOptions['blobs'],
): Promise<'damaged' | 'unreadable'> {
  // A blob of another length is corrupt. If reading fails, nothing is known about it.
  if (error instanceof CannotReadSource) return error.cause === undefined ? 'damaged' : 'unreadable';
  // An S3 server that fails for one blob and responds otherwise must not prevent the backup of the others.
  if (isEngineUnavailable(error) && (await blobs.stat(sha3_384)) !== undefined) return 'unreadable';
  throw error;
}

/** Returns the blobs that the copied records need and the backup does not have, with the reasons. */
async function listMissingBlobs(
  needed: readonly string[],
  blobs: readonly BackedUpBlob[],
  unfit: ReadonlyMap<string, MissingBackupBlob['why']>,
  { stillNeeded }: BackupOptions,
): Promise<MissingBackupBlob[]> {
  const present = new Set(blobs.map(({ sha3_384 }) => sha3_384));
  const lacking: MissingBackupBlob[] = [];
  for (const sha3_384 of new Set([...needed, ...unfit.keys()])) {
    if (present.has(sha3_384)) continue;
    const reason = unfit.get(sha3_384) ?? ((await stillNeeded(sha3_384)) ? 'missing' : 'forgotten');
    lacking.push({ sha3_384, why: reason });
  }
  return lacking;
}

/** Reads the archive as a restore would. Throws NotAsWritten. */
async function readBack(
  { partial }: BackupTarget,
  { file, siteKey, progress, signal }: BackupOptions,
  asCaller: BackupPlace['asCaller'],
): Promise<void> {
  const open = await asCaller(() => openArchives([partial]));
  try {
    const { bad } = await checkArchives(await readArchives(open, siteKey), progress, signal);
    if (bad.length > 0) throw new NotAsWritten(file);
  } finally {
    await closeArchives(open);
  }
}

/** Number of concurrent `stat` calls. */
const looksAtOnce = 16;

/**
 * Splits the blobs: known ones are in the earlier backup, fresh ones are missing there or have another size, and are read again. Checks
 * that each known blob still exists, because a bucket may list blobs that it has lost.
 */
async function splitBlobs(
  stored: readonly StoredBlob[],
  base: ReadonlyMap<string, BackedUpBlob> | undefined,
  blobs: Pick<Blobs, 'stat'>,
): Promise<{ unchanged: BackedUpBlob[]; fresh: StoredBlob[] }> {
  const candidates = stored.flatMap(({ sha3_384 }) => base?.get(sha3_384) ?? []);
  const fresh = stored.filter(({ sha3_384 }) => base?.has(sha3_384) !== true);
  const unchanged: BackedUpBlob[] = [];
  for (let at = 0; at < candidates.length; at += looksAtOnce) {
    const some = candidates.slice(at, at + looksAtOnce);
    const current = await Promise.all(some.map(({ sha3_384 }) => blobs.stat(sha3_384)));
    for (const [nth, blob] of some.entries()) {
      if (current[nth]?.size === blob.size) unchanged.push(blob);
      else if (current[nth] !== undefined) fresh.push(current[nth]);
    }
  }
  return { unchanged, fresh };
}

const certificates = (directory: string): string[] =>
  listNames(join(directory, 'tls'))
    .filter((name) => /^(?:ca|server)\.(?:pem|key)$/.test(name))
    .sort();

async function openIfThere(path: string): Promise<{ size: number; source: Readable } | undefined> {
  try {
    const handle = await open(path, 'r');
    const { size } = await handle.stat();
    return { size, source: handle.createReadStream({ highWaterMark: 1024 * 1024 }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CannotReadSource(path, 'it cannot be opened', error);
  }
}
