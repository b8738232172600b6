// larder restore FOLDER --at TIME: the state to restore from a folder of backups, and the later changes that it lacks.
import { join, resolve } from 'node:path';

import { toActName } from '#acts/audit-words.ts';
import { isBackupEntry } from '#acts/store/backup-entries.ts';
import { closeArchives, entryOf, openArchives } from '#backup/archives.ts';
import { findState, NoSuchState, type FolderBackup } from '#backup/folder.ts';
import type { Manifest } from '#backup/manifest.ts';
import type { BackupPlace } from '#backup/place.ts';
import { extract } from '#backup/restore.ts';
import { openRecords } from '#data/records.ts';
import { readDateTime } from '#domain/date-time.ts';
import { formatCount } from '#domain/quantities.ts';
import { onDisk } from '#files/durable-streams.ts';
import { Failure, UsageError } from '../frame/command.ts';
import { maxListed, otherItems } from '../frame/terminal.ts';
import { toArchiveFailure } from './messages.ts';
import { withTemporaryFolder } from './workspace.ts';

/** Rows per query. */
const batch = 1000;

export interface ArchiveChoice {
  /** The backup to restore, then the ones that it builds on. */
  files: string[];
  /** The newest backup, which has the later changes; undefined if a file was named. */
  newest: FolderBackup | undefined;
}

/** Returns the archives to restore: the named ones, or the newest state in a folder or bucket that is not after a time. */
export async function chooseArchives(
  path: string,
  { place, base, at }: { place: BackupPlace | undefined; base: readonly string[]; at: string | undefined },
  siteKey: () => Buffer | undefined,
): Promise<ArchiveChoice> {
  if (place === undefined) {
    if (at !== undefined) throw new UsageError('--at needs a folder of backups in the place of FILE');
    return { files: [resolve(path), ...base.map((file) => resolve(file))], newest: undefined };
  }
  if (base.length > 0) throw new UsageError('--base has no effect with a folder: the earlier backups are found there');
  const moment = at === undefined ? undefined : parseMoment(at);
  const key = siteKey();
  if (key === undefined) throw new UsageError('a folder of backups needs --keys DIR');
  try {
    const { file, bases, newest } = await findState(place, key, moment);
    return { files: [file, ...bases], newest };
  } catch (error) {
    if (error instanceof NoSuchState) throw new Failure(error.message, { code: 'cannot-restore', cause: error });
    throw toArchiveFailure(error, place.name);
  }
}

/** Parses a time in UTC, as people write it, or with a zone. */
function parseMoment(text: string): Date {
  const [, day, time, rest = ''] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.exec(text)?.[0] ?? 'Z';
  const moment = day === undefined ? undefined : readDateTime(`${day}T${time ?? ''}${rest || ':00'}${zone}`);
  if (moment !== undefined) return moment;
  throw new UsageError(
    `--at is a time in UTC such as "2026-11-25 14:05", or with a zone such as 2026-11-25T14:05:00+02:00, not '${text}'`,
  );
}

/** A change that the restored state lacks. */
export interface LostChange {
  seq: number;
  at: string;
  actor: string;
  act: string;
  object: string;
}

/** Lists the changes between a state and the newest backup, oldest first, from the records in that backup. */
export async function listLostChanges(
  { file, manifest: { id, files } }: FolderBackup,
  restored: Pick<Manifest, 'id' | 'auditHead'>,
  place: Pick<BackupPlace, 'open'> | undefined,
): Promise<LostChange[]> {
  if (restored.id === id) return [];
  const archives = await openArchives([file], place?.open);
  try {
    return await withTemporaryFolder(async (folder) => {
      const [{ tar }] = archives as [(typeof archives)[0]];
      for (const { name, size, sha256: digest } of files.filter(({ name }) => /^larder\.(?:db|toml)$/.test(name))) {
        const entry = entryOf(file, tar, name, size);
        await extract({ tar, file, entry, algorithm: 'sha256', digest }, join(folder, name), 0o600, onDisk);
      }
      return await readChanges(folder, restored.auditHead?.seq ?? 0);
    });
  } finally {
    await closeArchives(archives);
  }
}

async function readChanges(folder: string, after: number): Promise<LostChange[]> {
  const { records, close } = await openRecords(folder, { held: true });
  try {
    const changes: LostChange[] = [];
    for (let last = after; ;) {
      const rows = await records.audit.list(last, batch);
      for (const { seq, at, actor, action, object, outcome } of rows)
        if (outcome !== 'refused' && !isBackupEntry({ action }))
          changes.push({ seq, at, actor, act: toActName(action), object });
      if (rows.length < batch) return changes;
      last = rows.at(-1)!.seq;
    }
  } finally {
    await close();
  }
}

/** `changes` is undefined if they cannot be read. */
export function describeLostChanges(changes: readonly LostChange[] | undefined, newest: FolderBackup): string {
  if (changes === undefined) return `The later changes cannot be listed: ${newest.file} is damaged.\n`;
  if (changes.length === 0) return '';
  return `${[
    `${formatCount(changes.length, 'later change is', 'later changes are')} in the newest backup and not in this store:`,
    ...changes.slice(0, maxListed).map(({ at, actor, act, object }) => `  ${at}: ${actor} did ${act} on ${object}`),
    ...otherItems(changes.length),
  ].join('\n')}\n`;
}
