// Writes the messages about backups: what a backup lacks, and why it cannot be used.
import { formatCount } from '#domain/quantities.ts';
import { CannotRestore, openArchives, type OpenArchive } from '#backup/archives.ts';
import { NotOurs, NotSigned, type MissingBackupBlob } from '#backup/manifest.ts';
import { PlaceUnavailable, type BackupPlace } from '#backup/place.ts';
import { NotWhole } from '#backup/tar.ts';
import type { StoreRecords } from '#records/index.ts';
import { Failure } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import type { AsCaller } from '../frame/owner.ts';
import { maxListed, otherItems } from '../frame/terminal.ts';

/** Opens a backup and the earlier backups that it builds on, with the rights of the caller. */
export async function openBackupArchives(
  files: readonly string[],
  {
    asCaller = async (work) => work(),
    open,
  }: { asCaller?: AsCaller | undefined; open?: BackupPlace['open'] | undefined } = {},
): Promise<OpenArchive[]> {
  try {
    return await asCaller(() => openArchives(files, open));
  } catch (error) {
    throw toArchiveFailure(error, (error as NodeJS.ErrnoException).path ?? files[0]!);
  }
}

/** Turns an error into a Failure for a backup that cannot be used. */
export function toArchiveFailure(error: unknown, file: string): unknown {
  if (error instanceof PlaceUnavailable) return new Failure(error.message, { code: 'place-unavailable', cause: error });
  if (
    error instanceof NotWhole ||
    error instanceof NotOurs ||
    error instanceof NotSigned ||
    error instanceof CannotRestore
  ) {
    return new Failure(error.message, { code: 'cannot-restore', cause: error });
  }
  return toReadFailure(file, error);
}

const words: Readonly<Record<MissingBackupBlob['why'], string>> = {
  missing: 'is missing in the store',
  damaged: 'is damaged in the store',
  unreadable: 'cannot be read: the disk of the store fails there',
  forgotten: 'was forgotten',
};

/** Lists the contents that a backup lacks, by their packages, with the remedy. */
export async function lackingText(
  records: Pick<StoreRecords, 'neededContents'>,
  { lacking, problems }: { lacking: readonly MissingBackupBlob[]; problems: readonly string[] },
): Promise<string[]> {
  const lines = problems.slice(0, 1).map((line) => `The database in it is damaged: ${line}. It cannot be restored.`);
  if (lacking.length === 0) return lines;
  lines.push(`${formatCount(lacking.length, 'blob is', 'blobs are')} not in it:`);
  for (const { sha3_384, why: reason } of lacking.slice(0, maxListed)) {
    lines.push(`  ${await nameOf(records, sha3_384)} ${words[reason]}`);
  }
  lines.push(...otherItems(lacking.length));
  lines.push("Upload the same files again, or fetch them from an earlier backup: 'larder restore FILE --missing'.");
  return lines;
}

/** Describes a content for a message: up to three records that need it, such as revisions. */
export async function nameOf(
  { neededContents }: Pick<StoreRecords, 'neededContents'>,
  sha3_384: string,
): Promise<string> {
  const owners = await neededContents.neededBy(sha3_384, 3);
  return owners.length === 0 ? `content that no package needs (${sha3_384})` : `${owners.join(', ')} (${sha3_384})`;
}
