// Restores a backup into an empty directory. Everything is written below `DIRECTORY/.restoring` and proved there; then it
// is moved to its places, the configuration last, without which the directory is no store.
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkDatabase, type FileOptions } from '#records/check.ts';
import { upgradesFolder } from './before-upgrade.ts';
import { keysName, unlockKeys, type KeyTexts } from './keys.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { NotWhole, readTar, type TarEntry, type TarReader } from './tar.ts';

export interface RestoreOptions extends FileOptions {
  /** The backup. */
  file: string;
  /** The earlier backups that it builds on. */
  bases: readonly string[];
  /** The data directory: empty, or not there yet. */
  directory: string;
  /** Where the keys come from: their files' texts, or the passphrase of those in the backup. */
  keys: { texts: KeyTexts } | { passphrase: string };
  progress: (step: string, done: number, total: number) => void;
  /** Looks at the restored data, and may change it, before it becomes visible. */
  finish: (directory: string) => Promise<void>;
}

/** A backup that cannot be restored; the message is for the person who tries. */
export class CannotRestore extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CannotRestore';
  }
}

const work = '.restoring';
/** So many blobs are made durable at once. */
const atOnce = 16;

export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { file, directory, progress } = options;
  const archives = await Promise.all(
    [file, ...options.bases].map(async (path) => ({ path, tar: await readTar(path) })),
  );
  const main = archives[0]!;
  try {
    const keys = 'texts' in options.keys ? options.keys.texts : await keysFrom(main.tar, options.keys.passphrase);
    const siteKey = Buffer.from((keys['site.key'] ?? '').trim(), 'base64');
    if (siteKey.length !== 32) throw new CannotRestore('there is no site key of 32 bytes in base64 among the keys');
    const manifest = await readManifest(file, main.tar, siteKey);
    const known = new Map<string, TarReader>([[manifest.id, main.tar]]);
    for (const { path, tar } of archives.slice(1)) known.set((await readManifest(path, tar, siteKey)).id, tar);
    const lacking = new Set(manifest.blobs.map(({ backup }) => backup).filter((id) => !known.has(id)));
    if (lacking.size > 0) {
      throw new CannotRestore(
        `${file} builds on ${String(lacking.size)} earlier backup${lacking.size > 1 ? 's' : ''}; name each with --base`,
      );
    }

    await makeRoom(directory);
    const target = join(directory, work);
    await mkdir(target, { recursive: true, mode: 0o700 });
    for (const { name, size, sha256 } of manifest.files) {
      if (name === keysName) continue;
      if (!/^(?:larder\.(?:db|toml)|tls\/(?:ca|server)\.(?:pem|key))$/.test(name)) throw new NotWhole(file);
      const entry = entryOf(file, main.tar, name, size);
      await extract(main.tar, entry, join(target, name), modeOf(name), 'sha256', sha256, file);
    }
    for (const [name, text] of Object.entries(keys)) {
      if (/^(?:site|master)\.key$/.test(name)) await writeWhole(join(target, name), text, 0o400);
    }
    await extractBlobs(manifest, known, target, options);

    progress('database', 0, 1);
    const problems = checkDatabase(join(target, 'larder.db'), options);
    if (problems.length > 0) throw new CannotRestore(`the database in ${file} is damaged: ${problems[0]!}`);
    await options.finish(target);
    progress('database', 1, 1);
    await place(directory, target);
    return manifest;
  } finally {
    await Promise.all(archives.map(({ tar }) => tar.close()));
  }
}

async function keysFrom(tar: TarReader, passphrase: string): Promise<KeyTexts> {
  const entry = tar.entries.find(({ name }) => name === keysName);
  if (entry === undefined) {
    throw new CannotRestore(
      "this backup was made without --include-keys; give the folder with the keys' copies by --keys",
    );
  }
  const chunks: Buffer[] = [];
  for await (const bytes of tar.read(entry)) chunks.push(bytes);
  const keys = unlockKeys(Buffer.concat(chunks), passphrase);
  if (keys === undefined) throw new CannotRestore('this is not the passphrase of the keys in the backup');
  return keys;
}

/** Clears away what an interrupted restore has left; refuses a directory with anything else. */
async function makeRoom(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = await readdir(directory);
  if (names.includes('larder.toml')) throw new CannotRestore(`there is a store in ${directory} already`);
  const database = ['larder.db', 'larder.db-wal', 'larder.db-shm', upgradesFolder];
  const ours = new Set([work, ...database, 'site.key', 'master.key', 'tls', 'blobs']);
  const strange = names.filter((name) => name !== 'lost+found' && !(names.includes(work) && ours.has(name)));
  if (strange.length > 0)
    throw new CannotRestore(`${directory} is not empty (${strange.slice(0, 3).join(', ')}); restore into an empty one`);
  for (const name of names) if (ours.has(name)) await rm(join(directory, name), { recursive: true, force: true });
}

async function extractBlobs(
  manifest: Manifest,
  known: Map<string, TarReader>,
  target: string,
  { file, progress }: RestoreOptions,
): Promise<void> {
  const content = join(target, 'blobs/sha3');
  await mkdir(content, { recursive: true, mode: 0o700 });
  const entries = new Map(
    [...known].map(([id, tar]) => [id, new Map(tar.entries.map((entry) => [entry.name, entry]))]),
  );
  const total = manifest.blobs.reduce((sum, { size }) => sum + size, 0);
  const folders = new Set<string>();
  let bytes = 0;
  const waiting = [...manifest.blobs].reverse();
  const worker = async (): Promise<void> => {
    for (let blob = waiting.pop(); blob !== undefined; blob = waiting.pop()) {
      const { sha3_384, size, backup } = blob;
      if (!/^[0-9a-f]{96}$/.test(sha3_384)) throw new NotWhole(file);
      const entry = entries.get(backup)?.get(`blobs/${sha3_384}`);
      if (entry?.size !== size) throw new NotWhole(file);
      const folder = join(content, sha3_384.slice(0, 2));
      folders.add(folder);
      await extract(known.get(backup)!, entry, join(folder, sha3_384), 0o600, 'sha3-384', sha3_384, file);
      bytes += size;
      progress('blobs', bytes, total);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  for (const folder of [...folders, content, dirname(content)]) await syncFolder(folder);
}

function entryOf(file: string, { entries }: TarReader, wanted: string, size: number): TarEntry {
  const entry = entries.find(({ name }) => name === wanted);
  if (entry?.size !== size) throw new NotWhole(file);
  return entry;
}

/** Writes an entry to its place, durable, and holds it against its digest. */
async function extract(
  tar: TarReader,
  entry: TarEntry,
  to: string,
  mode: number,
  algorithm: string,
  digest: string,
  file: string,
): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const handle = await open(to, 'wx', mode);
  try {
    const hash = createHash(algorithm);
    let at = 0;
    for await (const bytes of tar.read(entry)) {
      hash.update(bytes);
      for (let written = 0; written < bytes.length;) {
        written += (await handle.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
      }
      at += bytes.length;
    }
    if (hash.digest('hex') !== digest) throw new CannotRestore(`${entry.name} in ${file} is damaged`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const modeOf = (name: string): number => (name.endsWith('.key') ? 0o400 : name.endsWith('.pem') ? 0o644 : 0o600);

async function place(directory: string, target: string): Promise<void> {
  if ((await readdir(target)).includes('tls')) await syncFolder(join(target, 'tls'));
  await syncFolder(target);
  const names = (await readdir(target)).sort(
    (one, other) => Number(one === 'larder.toml') - Number(other === 'larder.toml'),
  );
  for (const name of names.slice(0, -1)) await rename(join(target, name), join(directory, name));
  await syncFolder(directory);
  await rename(join(target, 'larder.toml'), join(directory, 'larder.toml'));
  await rmdir(target);
  await syncFolder(directory);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
