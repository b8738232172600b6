// larder backup --check: reads a backup and proves that it can be restored, without restoring it.
import { formatCount } from '#domain/quantities.ts';
import { join, resolve } from 'node:path';
import { entryOf, readArchives, siteKeyOf, closeArchives, keysIn, type Archives } from '#backup/archives.ts';
import { checkArchives, type ArchiveVerdict } from '#backup/check.ts';
import { onDisk } from '#files/durable-streams.ts';
import type { MissingBackupBlob } from '#backup/manifest.ts';
import { extract } from '#backup/restore.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { signedWith } from '#transfers/backup-signatures.ts';
import { checkDatabase } from '#engine/sqlite/check.ts';
import { nativeBinding } from '#platform/native.ts';
import { readSiteKey } from '#data/secrets.ts';
import { openBackupArchives, toArchiveFailure } from './messages.ts';
import { listNeededContents, withTemporaryFolder } from './workspace.ts';
import type { CommandResult, CommandCall } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';
import { suspendRoot } from '../frame/owner.ts';
import { passphraseIn } from '../frame/passphrase.ts';
import { createProgress } from '../frame/progress.ts';
import { maxListed, otherItems } from '../frame/terminal.ts';
import { keyTextsIn } from './restore.ts';

export interface BackupCheckOptions {
  file: string;
  base?: readonly string[];
  keys?: string | undefined;
  'passphrase-file'?: string | undefined;
  'signed-by'?: string | undefined;
}

/** The store that made the backup, if it is open. */
type OwnStore = Pick<OpenStore, 'siteKey' | 'asCaller'>;

/** The results of checking the records in a backup. */
interface BackupRecordsCheck {
  problems: string[];
  lacking: MissingBackupBlob[];
}

export async function checkBackup(
  call: Pick<CommandCall, 'data' | 'json' | 'quiet' | 'world'>,
  checking: BackupCheckOptions,
  own?: OwnStore,
): Promise<CommandResult> {
  const files = [checking.file, ...(checking.base ?? [])].map((file) => resolve(file));
  const open = await openBackupArchives(files, { asCaller: own?.asCaller });
  const progress = createProgress(call);
  try {
    const signer = checking['signed-by'];
    const siteKey = own?.siteKey ?? (signer === undefined ? await siteKeyFor(call, checking, open[0]!) : undefined);
    const archives = await readArchives(open, siteKey ?? signedWith(signer ?? ''));
    const verdict = await checkArchives(archives, progress.at);
    const whole = !verdict.bad.some(({ name }) => name === 'larder.db');
    const copied = whole ? await inspectRecords(archives) : { problems: [], lacking: [] };
    progress.end();
    return answered(
      archives,
      verdict,
      copied,
      siteKey === undefined ? { signer } : { siteKey: fingerprintOf(siteKey) },
    );
  } catch (error) {
    throw toArchiveFailure(error, checking.file);
  } finally {
    progress.end();
    await closeArchives(open);
  }
}

async function siteKeyFor(
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  checking: BackupCheckOptions,
  archive: Parameters<typeof keysIn>[0],
): Promise<Buffer> {
  if (checking.keys !== undefined) return siteKeyOf(keyTextsIn(resolve(checking.keys)));
  const passphrase = checking['passphrase-file'];
  if (passphrase !== undefined) return siteKeyOf(await keysIn(archive, passphraseIn(resolve(passphrase))));
  suspendRoot(data);
  return readSiteKey({ directory: data, credentials: world.env['CREDENTIALS_DIRECTORY'], masterKeyFile: undefined });
}

/** Checks the database in a backup, and compares the blobs that its records need with those of the backup. */
function inspectRecords({ file, tar, manifest }: Archives): Promise<BackupRecordsCheck> {
  return withTemporaryFolder(async (folder) => {
    // Extract the configuration too: an upgrade of records of an older release needs both files.
    for (const { name, size, sha256 } of manifest.files.filter(({ name }) => /^larder\.(?:db|toml)$/.test(name))) {
      const entry = entryOf(file, tar, name, size);
      await extract({ tar, file, entry, algorithm: 'sha256', digest: sha256 }, join(folder, name), 0o600, onDisk);
    }
    const problems = checkDatabase(join(folder, 'larder.db'), { nativeBinding: nativeBinding() });
    if (problems.length > 0) return { problems, lacking: [] };
    const included = new Set(manifest.blobs.map(({ sha3_384 }) => sha3_384));
    const explained = new Map((manifest.lacking ?? []).map(({ sha3_384, why: reason }) => [sha3_384, reason]));
    const lacking = (await listNeededContents(folder))
      .filter((sha3_384) => !included.has(sha3_384) && explained.get(sha3_384) !== 'forgotten')
      .map((sha3_384) => ({ sha3_384, why: explained.get(sha3_384) ?? ('missing' as const) }));
    return { problems, lacking };
  });
}

function answered(
  { file, manifest }: Archives,
  { bad, read, elsewhere }: ArchiveVerdict,
  { problems, lacking }: BackupRecordsCheck,
  provenBy: { signer: string | undefined } | { siteKey: string },
): CommandResult {
  const proof =
    'siteKey' in provenBy
      ? `It belongs to the site.key with the fingerprint ${provenBy.siteKey}.`
      : `It is signed with the key with the fingerprint ${provenBy.signer ?? ''}.`;
  const lines = [
    ...bad.map(
      ({ name, reason }) => `${name} ${reason === 'damaged' ? 'is damaged' : 'cannot be read: the disk fails there'}`,
    ),
    ...problems.map((line) => `its database: ${line}`),
    ...lacking.map(({ sha3_384, why: reason }) => `the blob ${sha3_384} is not in it (${reason} when it was made)`),
  ];
  const good = lines.length === 0;
  const others =
    elsewhere === 0
      ? ''
      : ` ${formatCount(elsewhere, 'blob is', 'blobs are')} in earlier backups; name those backups with --base to verify them too.`;
  return {
    text: good
      ? `The backup of ${manifest.madeAt} in ${file} is intact: ${formatCount(read, 'file')}, each verified against its digest, and its database. ${proof}${others}`
      : [
          `The backup of ${manifest.madeAt} in ${file} is damaged:`,
          ...lines.slice(0, maxListed).map((line) => `  ${line}`),
          ...otherItems(lines.length),
          'Keep it until you have an intact one: everything that is not listed here can be restored from it.',
        ].join('\n'),
    json: {
      good,
      file,
      id: manifest.id,
      'made-at': manifest.madeAt,
      ...('siteKey' in provenBy ? { 'site-key-fingerprint': provenBy.siteKey } : { 'signed-by': provenBy.signer }),
      read,
      'blobs-elsewhere': elsewhere,
      bad,
      lacking,
      'database-problems': problems,
      'audit-head': manifest.auditHead,
    },
    exitCode: good ? 0 : 1,
  };
}
