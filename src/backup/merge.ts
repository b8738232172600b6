// Merges old increments: a backup that stays takes the blobs of removed ones that it, or a later one, builds on. The merged archive has the
// name, the id and the records of the backup that stays; it is verified and durable before the parts go, so a kill at any moment leaves each
// blob in one of the two.
import { Readable } from 'node:stream';

import {
  CannotRestore,
  closeArchives,
  entryOf,
  mapHolders,
  openArchives,
  readArchives,
  type OpenArchive,
} from './archives.ts';
import { checkArchives } from './check.ts';
import type { FolderBackup } from './folder.ts';
import { NotAsWritten } from './make.ts';
import { Refusal } from '#domain/refusal.ts';
import { signedManifest, type BackedUpBlob, type Manifest, type ManifestSignature } from './manifest.ts';
import type { BackupPlace, BackupStart } from './place.ts';
import { CannotReadSource, writeTar, type TarEntry, type TarReader, type TarWriter } from './tar.ts';
import { requireRoom, roomIn } from './target.ts';

/** A backup that stays, and the removed ones that it takes the place of. */
export interface BackupMerge {
  heir: FolderBackup;
  parts: FolderBackup[];
  /** The blobs of the parts that backups which stay build on. */
  blobs: BackedUpBlob[];
}

/**
 * Decides which backups are merged, and which are removed alone. A full backup is never copied: it stays as long as a kept one builds on it.
 */
export function planMerges(
  backups: readonly FolderBackup[],
  keptBackups: readonly FolderBackup[],
): { merges: BackupMerge[]; unused: FolderBackup[] } {
  const holders = mapHolders(backups);
  const keptIds = new Set(keptBackups.map(({ manifest }) => manifest.id));
  const merges = new Map<FolderBackup, BackupMerge>();
  const heirs = new Map<FolderBackup, BackupMerge>();
  const used = new Set<FolderBackup>();
  const taken = new Set<string>();
  const oldestFirst = [...keptBackups].sort(
    (left, right) => Date.parse(left.manifest.madeAt) - Date.parse(right.manifest.madeAt),
  );
  for (const heir of oldestFirst) {
    for (const blob of heir.manifest.blobs) {
      const holder = holders.get(blob.backup);
      if (holder === undefined || keptIds.has(holder.manifest.id)) continue;
      used.add(holder);
      if (holder.manifest.since === null) continue;
      let merge = heirs.get(holder);
      if (merge === undefined) {
        merge = merges.get(heir) ?? { heir, parts: [], blobs: [] };
        merge.parts.push(holder);
        merges.set(heir, merge);
        heirs.set(holder, merge);
      }
      const key = `${holder.manifest.id} ${blob.sha3_384}`;
      if (!taken.has(key)) merge.blobs.push({ ...blob, backup: holder.manifest.id });
      taken.add(key);
    }
  }
  const unused = backups.filter((backup) => !keptIds.has(backup.manifest.id) && !used.has(backup));
  return { merges: [...merges.values()], unused };
}

export interface MergeOptions extends BackupStart {
  place: BackupPlace;
  sign?: ((text: string) => Promise<ManifestSignature | undefined>) | undefined;
}

/** Replaces the heir by the merged archive, durably. The parts are still there afterwards. */
export async function mergeBackups({ heir, parts, blobs }: BackupMerge, options: MergeOptions): Promise<void> {
  const { place, workspace, siteKey, sign, signal } = options;
  const { asCaller } = place;
  const names = [heir, ...parts].map(({ file }) => file);
  const sources = await asCaller(() => openArchives(names, place.open));
  try {
    const byId = new Map([heir, ...parts].map((backup, nth) => [backup.manifest.id, sources[nth]!]));
    const manifest = mergedManifest({ heir, parts });
    const content = [...manifest.files, ...blobEntries(sources[0]!.tar), ...blobs];
    const size = content.reduce((sum, item) => sum + item.size + 1024, 256 * manifest.blobs.length + 1024 ** 2);
    const folder = place.roomFor(workspace);
    requireRoom(folder, size, roomIn(folder));
    const target = await asCaller(() => place.begin(heir.file, { workspace, siteKey, signal }));
    try {
      const tar = writeTar(target.handle, new Date(manifest.madeAt), signal);
      await copyContents(tar, { heir, blobs }, byId);
      const signed = await signedManifest(manifest, siteKey, sign && ((text) => signedText(text, sign)));
      await tar.add(signed.name, signed.content.length, Readable.from([signed.content]));
      await tar.finish();
      await verifyMerged(target.partial, heir.file, options);
      signal?.throwIfAborted();
      await asCaller(() => target.place());
    } catch (error) {
      await asCaller(() => target.discard());
      // The error of reading a part names its file.
      throw error instanceof CannotReadSource ? (error.cause ?? error) : error;
    }
  } finally {
    await closeArchives(sources);
  }
}

/** A merged archive must not lack the signature that the backup in its place has. */
async function signedText(text: string, sign: NonNullable<MergeOptions['sign']>): Promise<ManifestSignature> {
  const signature = await sign(text);
  if (signature === undefined)
    throw new Refusal(
      'sealed',
      'Old backups are merged as soon as the site can sign again; the new backup is complete.',
    );
  return signature;
}

function mergedManifest({ heir: { manifest }, parts }: Omit<BackupMerge, 'blobs'>): Manifest {
  const gone = new Set(parts.flatMap(({ manifest: { id, merged = [] } }) => [id, ...merged]));
  const { builtOn } = manifest;
  return {
    ...manifest,
    blobs: manifest.blobs.map((blob) => (gone.has(blob.backup) ? { ...blob, backup: manifest.id } : blob)),
    ...(builtOn && { builtOn: builtOn.filter(({ id }) => !gone.has(id)) }),
    merged: [...(manifest.merged ?? []), ...gone],
  };
}

/** Copies everything from the heir, and the blobs of the parts, and verifies each against its digest. */
async function copyContents(
  tar: TarWriter,
  { heir: { manifest }, blobs }: Pick<BackupMerge, 'heir' | 'blobs'>,
  sources: ReadonlyMap<string, OpenArchive>,
): Promise<void> {
  const names = new Set<string>();
  const copy = async (name: string, size: number, holder: string, sha256?: string): Promise<void> => {
    if (names.has(name)) return;
    names.add(name);
    const { file, tar: source } = sources.get(holder)!;
    const written = await tar.add(name, size, source.read(entryOf(file, source, name, size)), { sha3: true });
    if (name !== `blobs/${written.sha3_384!}` && written.sha256 !== sha256)
      throw new CannotRestore(`${name} in ${file} is damaged`);
  };
  for (const { name, size, sha256 } of manifest.files) await copy(name, size, manifest.id, sha256);
  for (const { name, size } of blobEntries(sources.get(manifest.id)!.tar)) await copy(name, size, manifest.id);
  for (const { sha3_384, size, backup } of blobs) await copy(`blobs/${sha3_384}`, size, backup);
}

const blobEntries = ({ entries }: TarReader): TarEntry[] => entries.filter(({ name }) => name.startsWith('blobs/'));

/** Reads the merged archive from the disk, with every blob in it. Throws NotAsWritten. */
async function verifyMerged(
  partial: string,
  file: string,
  { place, siteKey, signal }: Pick<MergeOptions, 'place' | 'siteKey' | 'signal'>,
): Promise<void> {
  const open = await place.asCaller(() => openArchives([partial]));
  try {
    const archives = await readArchives(open, siteKey);
    const blobs = blobEntries(archives.tar).map(({ name, size }) => ({
      sha3_384: name.slice('blobs/'.length),
      size,
      backup: archives.manifest.id,
    }));
    const all = { ...archives, manifest: { ...archives.manifest, blobs } };
    const { bad } = await checkArchives(all, () => undefined, signal);
    if (bad.length > 0) throw new NotAsWritten(file);
  } finally {
    await closeArchives(open);
  }
}
