// larder backup FOLDER --increment: the backup that it builds on, and whether the store has changed since.
import { join } from 'node:path';

import { hasOnlyBackupEntries } from '#acts/store/backup-entries.ts';
import { findIncrementBase, type FolderBackup } from '#backup/folder.ts';
import type { Manifest } from '#backup/manifest.ts';
import { PlaceUnavailable, type BackupPlace } from '#backup/place.ts';
import { configDigest } from '#configuration/config.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { Failure, type CommandResult } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

export interface IncrementPlan {
  /** Undefined if a full backup is due. */
  base: FolderBackup | undefined;
  isUnchanged: boolean;
}

/** Reads the end of the audit log and the newest backup in the folder; no blob and no other row. */
export async function planIncrement(place: BackupPlace, store: OpenStore): Promise<IncrementPlan> {
  const { siteKey, now } = store;
  const base = await place
    .asCaller(() => findIncrementBase(place, siteKey, now()))
    .catch((cause: unknown) => {
      if (cause instanceof PlaceUnavailable) throw cause;
      throw new Failure(`cannot read the folder ${place.name}: ${inOneSentence(cause)}`, {
        code: 'cannot-read',
        cause,
      });
    });
  return { base, isUnchanged: base !== undefined && (await isUnchangedSince(base.manifest, store)) };
}

async function isUnchangedSince(
  { auditHead, files }: Manifest,
  { records, directory }: Pick<OpenStore, 'records' | 'directory'>,
): Promise<boolean> {
  if (auditHead === null) return false;
  const written = files.find(({ name }) => name === 'larder.toml')?.sha256;
  if (written !== configDigest(join(directory, 'larder.toml'))) return false;
  const [head] = await records.audit.list(auditHead.seq - 1, 1);
  // After a restore the log continues from an earlier entry, with other hashes.
  return head?.hash === auditHead.hash && hasOnlyBackupEntries(records, auditHead.seq);
}

export const describeUnchanged = ({ file, manifest }: FolderBackup): CommandResult => ({
  text: `The store has not changed since the backup in ${file} of ${manifest.madeAt}; no other one was made.`,
  json: { file, unchanged: true, 'made-at': manifest.madeAt, 'audit-head': manifest.auditHead },
});
