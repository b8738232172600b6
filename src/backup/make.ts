// Makes a backup beside a serving store: the database as of one moment, the configuration, the certificates, every blob
// that an earlier backup has not, and the manifest last. The archive has its name only when it is whole and durable.
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';

import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { copyDatabase, type FileOptions } from '#records/check.ts';
import { keysName, lockKeys, type KeyTexts } from './keys.ts';
import { readManifest, signedManifest, type BackedUpBlob, type BackedUpFile, type Manifest } from './manifest.ts';
import { readTar, writeTar } from './tar.ts';

export interface BackupOptions extends FileOptions {
  /** The data directory. */
  directory: string;
  /** The archive to write, which is not there yet. */
  file: string;
  blobs: Pick<Blobs, 'list' | 'path'>;
  siteKey: Buffer;
  /** An earlier backup, whose blobs are left out. */
  since?: string | undefined;
  keys?: { texts: KeyTexts; passphrase: string } | undefined;
  auditHead: () => Promise<{ seq: number; hash: string } | undefined>;
  id: string;
  now: Now;
  version: string;
  progress: (step: string, done: number, total: number) => void;
}

export interface BackupResult {
  manifest: Manifest;
  /** Bytes of the archive. */
  size: number;
  /** Blobs that had not their digest any more and are not in the backup. */
  damaged: string[];
}

export async function makeBackup(options: BackupOptions): Promise<BackupResult> {
  const { directory, file, blobs, siteKey, id, now, progress } = options;
  const base = options.since === undefined ? undefined : await baseOf(options.since, siteKey);
  const [partial, copy] = [`${file}.partial`, `${file}.partial.db`];
  await Promise.all([rm(partial, { force: true }), rm(copy, { force: true })]);
  const tar = await writeTar(partial, now());
  try {
    const files: BackedUpFile[] = [];
    const addFile = async (name: string, path: string): Promise<void> => {
      const { size } = await stat(path);
      const { sha256 } = await tar.add(name, size, createReadStream(path, { highWaterMark: 1024 * 1024 }));
      files.push({ name, size, sha256 });
    };

    // The head before the copy: what the copy holds reaches at least to it.
    const auditHead = (await options.auditHead()) ?? null;
    await copyDatabase(join(directory, 'larder.db'), copy, {
      nativeBinding: options.nativeBinding,
      progress: (done, total) => {
        progress('database', done, total);
      },
    });
    await addFile('larder.db', copy);
    await rm(copy);
    await addFile('larder.toml', join(directory, 'larder.toml'));
    for (const name of await certificates(directory)) await addFile(`tls/${name}`, join(directory, 'tls', name));
    if (options.keys !== undefined) {
      const locked = lockKeys(options.keys.texts, options.keys.passphrase);
      files.push({ name: keysName, ...(await tar.add(keysName, locked.length, Readable.from([locked]))) });
    }

    const stored: StoredBlob[] = [];
    let total = 0;
    for await (const blob of blobs.list()) {
      stored.push(blob);
      if (!base?.has(blob.sha3_384)) total += blob.size;
    }
    const listed: BackedUpBlob[] = [];
    const damaged: string[] = [];
    let bytes = 0;
    for (const { sha3_384, size } of stored) {
      const known = base?.get(sha3_384);
      if (known !== undefined) {
        listed.push(known);
        continue;
      }
      const source = await openIfThere(blobs.path(sha3_384));
      // An upload that nobody claimed may have been forgotten meanwhile.
      if (source === undefined) continue;
      const found = await tar.add(`blobs/${sha3_384}`, size, source, { sha3: true });
      if (found.sha3_384 === sha3_384) listed.push({ sha3_384, size, backup: id });
      else damaged.push(sha3_384);
      bytes += size;
      progress('blobs', bytes, total);
    }

    const manifest: Manifest = {
      format: 1,
      id,
      madeAt: timestamp(now()),
      version: options.version,
      since: base?.id ?? null,
      auditHead,
      keys: options.keys !== undefined,
      files: files.map(({ name, size, sha256 }) => ({ name, size, sha256 })),
      blobs: listed,
    };
    const { name, content } = signedManifest(manifest, siteKey);
    await tar.add(name, content.length, Readable.from([content]));
    await tar.finish();
    await rename(partial, file);
    await syncFolder(dirname(file));
    return { manifest, size: (await stat(file)).size, damaged };
  } catch (error) {
    await tar.abandon().catch(() => undefined);
    await Promise.all([rm(partial, { force: true }), rm(copy, { force: true })]);
    throw new Error(`cannot back up to ${basename(file)}`, { cause: error });
  }
}

/** The blobs that an earlier backup and those before it have. */
async function baseOf(file: string, siteKey: Buffer): Promise<Map<string, BackedUpBlob> & { id: string }> {
  const tar = await readTar(file);
  try {
    const { id, blobs } = await readManifest(file, tar, siteKey);
    return Object.assign(new Map(blobs.map((blob) => [blob.sha3_384, blob])), { id });
  } finally {
    await tar.close();
  }
}

async function certificates(directory: string): Promise<string[]> {
  try {
    return (await readdir(join(directory, 'tls'))).filter((name) => /^(?:ca|server)\.(?:pem|key)$/.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function openIfThere(path: string): Promise<Readable | undefined> {
  try {
    const handle = await open(path, 'r');
    return handle.createReadStream({ highWaterMark: 1024 * 1024 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
