// Restores a backup into an empty directory. Everything is written below `DIRECTORY/.restoring` and verified there, the keys last. Then it
// moves into place, the configuration last: without it the directory is not a store.
import { createDigest, type ContentDigest } from '#domain/cryptography.ts';
import { dirname, join } from 'node:path';

import { checkDatabase, type SqliteFileOptions } from '#engine/sqlite/check.ts';
import { readIfPresent } from '#files/read.ts';
import { onDisk, syncFolder, createDurableFile, type Files } from '#files/durable-streams.ts';
import { CannotRestore, entryOf, readArchives, siteKeyOf, type Archives, type OpenArchive } from './archives.ts';
import { upgradesFolder } from './upgrade-copies.ts';
import { keysName, type KeyTexts } from './keys.ts';
import type { BackedUpBlob, Manifest } from './manifest.ts';
import { NotWhole, type TarEntry, type TarReader } from './tar.ts';

export interface RestoreOptions extends SqliteFileOptions {
  /** The backup, then the earlier ones that it builds on. */
  archives: readonly OpenArchive[];
  /** The data directory: empty or missing. */
  directory: string;
  /** The texts of the key files. */
  keys: KeyTexts;
  progress: (step: string, done: number, total: number) => void;
  /** Checks the restored data, and may change it, before it becomes visible. */
  finish: (directory: string) => Promise<void>;
  /**
   * The name of this attempt in places outside the directory, such as a database server. Stored before `finish`, and removed when the
   * directory is a store; see `attemptIn`.
   */
  attempt?: string | undefined;
  /** Aborts the restore before the directory is a store. The restore then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  files?: Files;
}

const work = '.restoring';
const attempt = 'attempt';
/** Number of blobs that are written concurrently. */
const extractConcurrency = 16;

/** Returns the name of an interrupted restore into a directory. */
export const attemptIn = (directory: string): string | undefined =>
  readIfPresent(join(directory, work, attempt)) || undefined;

/** Restores a backup. A failed restore leaves nothing behind. */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { directory, files = onDisk } = options;
  const archives = await readArchives(options.archives, siteKeyOf(options.keys));
  const { file, lacking } = archives;
  if (lacking > 0) {
    const plural = lacking > 1 ? 's' : '';
    throw new CannotRestore(`${file} builds on ${String(lacking)} earlier backup${plural}; name each with --base`);
  }
  const made = await makeRoom(files, directory, options.attempt !== undefined);
  const target = join(directory, work);
  const placing: Placing = { placed: [], isStore: false };
  try {
    await files.mkdir(target, { recursive: true, mode: 0o700 });
    if (options.attempt !== undefined && attemptIn(directory) === undefined) {
      await createDurableFile(join(target, attempt), options.attempt, 0o600, files);
      await syncFolder(target, files);
      await syncFolder(directory, files);
    }
    await restoreContents(target, archives, options, files);
    options.signal?.throwIfAborted();
    await place(files, directory, target, placing);
  } catch (error) {
    if (!placing.isStore) await clear(files, directory, [work, ...placing.placed], made);
    throw error;
  }
  return archives.manifest;
}

async function restoreContents(
  target: string,
  archives: Archives,
  options: RestoreOptions,
  files: Files,
): Promise<void> {
  const { file, tar, manifest } = archives;
  const { progress, signal } = options;
  for (const { name, size, sha256 } of manifest.files) {
    if (name === keysName) continue;
    if (!/^(?:larder\.(?:db|toml)|tls\/(?:ca|server)\.(?:pem|key))$/.test(name)) throw new NotWhole(file);
    const entry = entryOf(file, tar, name, size);
    const item = { tar, entry, file, algorithm: 'sha256' as const, digest: sha256, signal };
    await extract(item, join(target, name), modeOf(name), files);
  }
  await extractBlobs(archives, target, options, files);

  signal?.throwIfAborted();
  progress('database', 0, 1);
  const problems = checkDatabase(join(target, 'larder.db'), options);
  if (problems.length > 0) throw new CannotRestore(`the database in ${file} is damaged: ${problems[0]!}`);
  for (const [name, text] of Object.entries(options.keys)) {
    if (/^(?:(?:site|master)\.key|audit\.seal)$/.test(name))
      await createDurableFile(join(target, name), text, 0o400, files);
  }
  await options.finish(target);
  progress('database', 1, 1);
}

/**
 * Removes the files of an interrupted restore. Throws if the directory contains anything else. Returns whether the directory was created.
 */
async function makeRoom(files: Files, directory: string, again: boolean): Promise<boolean> {
  const made = (await files.mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined;
  if (made) await syncFolder(dirname(directory), files);
  const names = await files.readdir(directory);
  if (names.includes('larder.toml')) throw new CannotRestore(`there is a store in ${directory} already`);
  const database = ['larder.db', 'larder.db-wal', 'larder.db-shm', upgradesFolder];
  const partial = new Set([work, 'store.lock', ...database, 'site.key', 'master.key', 'audit.seal', 'tls', 'blobs']);
  const strange = names.filter((name) => name !== 'lost+found' && !(names.includes(work) && partial.has(name)));
  if (strange.length > 0)
    throw new CannotRestore(`${directory} is not empty (${strange.slice(0, 3).join(', ')}); restore into an empty one`);
  // Remove the work folder last: it marks the other files as part of an interrupted restore.
  const left = names
    .filter((name) => partial.has(name))
    .sort((name, other) => Number(name === work) - Number(other === work));
  const remove = (...path: string[]): Promise<void> =>
    files.rm(join(directory, ...path), { recursive: true, force: true });
  for (const name of left) {
    if (name !== work || !again) await remove(name);
    else
      for (const child of await files.readdir(join(directory, work))) if (child !== attempt) await remove(work, child);
  }
  return made;
}

/** Removes the files of a failed restore. */
async function clear(files: Files, directory: string, names: readonly string[], made: boolean): Promise<void> {
  for (const name of [...names].reverse()) {
    await files.rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
  if (made) await files.rmdir(directory).catch(() => undefined);
}

async function extractBlobs(
  { manifest, file, find }: Archives,
  target: string,
  { progress, signal }: RestoreOptions,
  files: Files,
): Promise<void> {
  const content = join(target, 'blobs/sha3');
  await files.mkdir(content, { recursive: true, mode: 0o700 });
  const total = manifest.blobs.reduce((sum, { size }) => sum + size, 0);
  const folders = new Set<string>();
  let bytes = 0;
  const waiting = [...manifest.blobs].reverse();
  let failed = false;
  const take = async (blob: BackedUpBlob): Promise<void> => {
    const { sha3_384, size } = blob;
    const source = find(blob);
    if (source === undefined) throw new NotWhole(file);
    const folder = join(content, sha3_384.slice(0, 2));
    folders.add(folder);
    const item = { ...source, file, algorithm: 'sha3-384' as const, digest: sha3_384, signal };
    await extract(item, join(folder, sha3_384), 0o600, files);
    bytes += size;
    progress('blobs', bytes, total);
  };
  const worker = async (): Promise<void> => {
    try {
      for (let blob = waiting.pop(); blob !== undefined && !failed; blob = waiting.pop()) await take(blob);
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  // Wait for all workers before anything is removed.
  const workers = Array.from({ length: extractConcurrency }, worker);
  await Promise.allSettled(workers);
  await Promise.all(workers);
  for (const folder of [...folders, content, dirname(content)]) await syncFolder(folder, files);
}

/** An entry of an archive, and the digest that it must have. */
export interface ArchiveItem {
  tar: TarReader;
  entry: TarEntry;
  file: string;
  algorithm: ContentDigest;
  digest: string;
  signal?: AbortSignal | undefined;
}

/** Yields the bytes of an entry. Throws at the end if their digest is wrong. */
export async function* readVerified({
  tar,
  entry,
  file,
  algorithm,
  digest,
  signal,
}: ArchiveItem): AsyncGenerator<Buffer> {
  const hash = createDigest(`content ${algorithm}`);
  for await (const bytes of tar.read(entry)) {
    signal?.throwIfAborted();
    hash.update(bytes);
    yield bytes;
  }
  if (hash.digest('hex') !== digest) throw new CannotRestore(`${entry.name} in ${file} is damaged`);
}

/** Writes an entry to its place durably and verifies its digest. */
export async function extract(item: ArchiveItem, to: string, mode: number, files: Files): Promise<void> {
  await files.mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await createDurableFile(to, readVerified(item), mode, files);
}

const modeOf = (name: string): number => (name.endsWith('.key') ? 0o400 : name.endsWith('.pem') ? 0o644 : 0o600);

interface Placing {
  /** The files that are already in place. */
  placed: string[];
  /** Set when the directory is a store, so that later errors remove nothing. */
  isStore: boolean;
}

async function place(files: Files, directory: string, target: string, state: Placing): Promise<void> {
  const all = (await files.readdir(target)).filter((name) => name !== attempt);
  if (all.includes('tls')) await syncFolder(join(target, 'tls'), files);
  await syncFolder(target, files);
  for (const name of all.filter((name) => name !== 'larder.toml')) {
    await files.rename(join(target, name), join(directory, name));
    state.placed.push(name);
  }
  await syncFolder(directory, files);
  state.placed.push('larder.toml');
  await files.rename(join(target, 'larder.toml'), join(directory, 'larder.toml'));
  state.isStore = true;
  await files.rm(join(target, attempt), { force: true });
  await files.rmdir(target);
  await syncFolder(directory, files);
}
