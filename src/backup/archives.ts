// Opens a backup together with the earlier ones that it builds on, and verifies them with the site key.
import { keysName, unlockKeys, type KeyTexts } from './keys.ts';
import { readManifest, type BackedUpBlob, type Manifest, type ManifestVerifier } from './manifest.ts';
import { NotWhole, readTar, type TarEntry, type TarReader } from './tar.ts';

/** A backup that cannot be restored or used. The message is for the person who tries. */
export class CannotRestore extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CannotRestore';
  }
}

export interface OpenArchive {
  file: string;
  tar: TarReader;
}

/** The backup first, then the earlier ones that it builds on. */
export interface Archives {
  file: string;
  tar: TarReader;
  manifest: Manifest;
  /** Returns where a blob's bytes are; undefined if they are in an earlier backup that was not given. */
  find(blob: BackedUpBlob): { tar: TarReader; entry: TarEntry } | undefined;
  /** Number of earlier backups that it builds on and that were not given. */
  lacking: number;
}

/** Opens all archives, or none if one fails. */
export async function openArchives(
  files: readonly string[],
  openTar: (file: string) => Promise<TarReader> = readTar,
): Promise<OpenArchive[]> {
  const open: OpenArchive[] = [];
  try {
    for (const file of files) open.push({ file, tar: await openTar(file) });
    return open;
  } catch (error) {
    await closeArchives(open);
    throw error;
  }
}

export async function closeArchives(open: readonly OpenArchive[]): Promise<void> {
  await Promise.all(open.map(({ tar }) => tar.close()));
}

/** Reads the manifests of the archives. Throws NotWhole, NotOurs or NotSigned. */
export async function readArchives(open: readonly OpenArchive[], prover: ManifestVerifier): Promise<Archives> {
  const { file, tar } = open[0]!;
  const manifest = await readManifest(file, tar, prover);
  const backups = [{ archive: open[0]!, manifest }];
  for (const base of open.slice(1))
    backups.push({ archive: base, manifest: await readManifest(base.file, base.tar, prover) });
  const readers = new Map([...mapHolders(backups)].map(([id, { archive }]) => [id, archive.tar]));
  const entries = new Map(open.map(({ tar: reader }) => [reader, entriesByName(reader)]));
  return {
    file,
    tar,
    manifest,
    lacking: new Set(manifest.blobs.map(({ backup }) => backup).filter((id) => !readers.has(id))).size,
    find({ sha3_384, size, backup }) {
      const holder = readers.get(backup);
      if (holder === undefined) return undefined;
      const entry = entries.get(holder)?.get(`blobs/${sha3_384}`);
      if (!/^[0-9a-f]{96}$/.test(sha3_384) || entry?.size !== size) throw new NotWhole(file);
      return { tar: holder, entry };
    },
  };
}

/** The archive with the blobs of each backup: its own, or a merged one in its place. */
export function mapHolders<Backup extends { manifest: Pick<Manifest, 'id' | 'merged'> }>(
  backups: readonly Backup[],
): Map<string, Backup> {
  const merged = backups.flatMap((backup) => (backup.manifest.merged ?? []).map((id) => [id, backup] as const));
  return new Map([...merged, ...backups.map((backup) => [backup.manifest.id, backup] as const)]);
}

/** Returns the entry of this name and size. Throws NotWhole. */
export function entryOf(file: string, { entries }: TarReader, entryName: string, size: number): TarEntry {
  const entry = entries.find(({ name }) => name === entryName);
  if (entry?.size !== size) throw new NotWhole(file);
  return entry;
}

/** Returns the keys that a backup contains under a passphrase. */
export async function keysIn({ tar }: OpenArchive, passphrase: string): Promise<KeyTexts> {
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

/** Returns the site key from the texts of key files. */
export function siteKeyOf(keys: KeyTexts): Buffer {
  const siteKey = Buffer.from((keys['site.key'] ?? '').trim(), 'base64');
  if (siteKey.length !== 32) throw new CannotRestore('there is no site key of 32 bytes in base64 among the keys');
  return siteKey;
}

const entriesByName = ({ entries }: TarReader): Map<string, TarEntry> =>
  new Map(entries.map((entry) => [entry.name, entry]));
