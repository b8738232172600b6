// larder backup --check: reads a backup and proves that it can be restored, without restoring it.
import { counted } from '#domain/quantities.ts';
import { join, resolve } from 'node:path';
import { entryOf, readArchives, siteKeyOf, closeArchives, keysIn, type Archives } from '#backup/archives.ts';
import { checkArchives, type ArchiveVerdict } from '#backup/check.ts';
import { onDisk } from '#files/streamed.ts';
import type { LackingBlob } from '#backup/manifest.ts';
import { extract } from '#backup/restore.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { signedWith } from '#transfers/backups.ts';
import { checkDatabase } from '#engine/sqlite/check.ts';
import { nativeBinding } from '#src/native.ts';
import { readSiteKey } from '#data/secrets.ts';
import { openedArchives, unusable } from './words.ts';
import { neededIn, withTemporaryFolder } from './workspace.ts';
import type { Answer, Call } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';
import { setRootAside } from '../frame/owner.ts';
import { passphraseIn } from '../frame/passphrase.ts';
import { progressOf } from '../frame/progress.ts';
import { keyTextsIn } from './restore.ts';

const shown = 20;

export interface Checking {
  file: string;
  base?: readonly string[];
  keys?: string | undefined;
  'passphrase-file'?: string | undefined;
  'signed-by'?: string | undefined;
}

/** The store that made the backup, if it is open. */
type OwnStore = Pick<OpenStore, 'siteKey' | 'asCaller'>;

/** The results of checking the records in a backup. */
interface Copied {
  problems: string[];
  lacking: LackingBlob[];
}

export async function checkBackup(
  call: Pick<Call, 'data' | 'json' | 'quiet' | 'world'>,
  checking: Checking,
  own?: OwnStore,
): Promise<Answer> {
  const files = [checking.file, ...(checking.base ?? [])].map((file) => resolve(file));
  const open = await openedArchives(files, own?.asCaller);
  const progress = progressOf(call);
  try {
    const signer = checking['signed-by'];
    const siteKey = own?.siteKey ?? (signer === undefined ? await siteKeyFor(call, checking, open[0]!) : undefined);
    const archives = await readArchives(open, siteKey ?? signedWith(signer ?? ''));
    const verdict = await checkArchives(archives, progress.at);
    const whole = !verdict.bad.some(({ name }) => name === 'larder.db');
    const copied = whole ? await lookInto(archives) : { problems: [], lacking: [] };
    progress.end();
    return answered(
      archives,
      verdict,
      copied,
      siteKey === undefined ? { signer } : { siteKey: fingerprintOf(siteKey) },
    );
  } catch (error) {
    throw unusable(error, checking.file);
  } finally {
    progress.end();
    await closeArchives(open);
  }
}

async function siteKeyFor(
  { data, world }: Pick<Call, 'data' | 'world'>,
  checking: Checking,
  archive: Parameters<typeof keysIn>[0],
): Promise<Buffer> {
  if (checking.keys !== undefined) return siteKeyOf(keyTextsIn(resolve(checking.keys)));
  const passphrase = checking['passphrase-file'];
  if (passphrase !== undefined) return siteKeyOf(await keysIn(archive, passphraseIn(resolve(passphrase))));
  setRootAside(data);
  return readSiteKey({ directory: data, credentials: world.env['CREDENTIALS_DIRECTORY'], masterKeyFile: undefined });
}

/** Checks the database in a backup, and compares the blobs that its records need with those of the backup. */
function lookInto({ file, tar, manifest }: Archives): Promise<Copied> {
  return withTemporaryFolder(async (folder) => {
    // Extract the configuration too: an upgrade of records of an older release needs both files.
    for (const { name, size, sha256 } of manifest.files.filter(({ name }) => /^larder\.(?:db|toml)$/.test(name))) {
      const entry = entryOf(file, tar, name, size);
      await extract({ tar, file, entry, algorithm: 'sha256', digest: sha256 }, join(folder, name), 0o600, onDisk);
    }
    const problems = checkDatabase(join(folder, 'larder.db'), { nativeBinding: nativeBinding() });
    if (problems.length > 0) return { problems, lacking: [] };
    const known = new Set(manifest.blobs.map(({ sha3_384 }) => sha3_384));
    const explained = new Map((manifest.lacking ?? []).map(({ sha3_384, why }) => [sha3_384, why]));
    const lacking = (await neededIn(folder))
      .filter((sha3_384) => !known.has(sha3_384) && explained.get(sha3_384) !== 'forgotten')
      .map((sha3_384) => ({ sha3_384, why: explained.get(sha3_384) ?? ('missing' as const) }));
    return { problems, lacking };
  });
}

function answered(
  { file, manifest }: Archives,
  { bad, read, elsewhere }: ArchiveVerdict,
  { problems, lacking }: Copied,
  provenBy: { signer: string | undefined } | { siteKey: string },
): Answer {
  const proof =
    'siteKey' in provenBy
      ? `It goes with the site.key of the fingerprint ${provenBy.siteKey}.`
      : `It was signed with the key of the fingerprint ${provenBy.signer ?? ''}.`;
  const lines = [
    ...bad.map(
      ({ name, why }) => `${name} ${why === 'damaged' ? 'is damaged' : 'cannot be read: the disk fails there'}`,
    ),
    ...problems.map((line) => `its database: ${line}`),
    ...lacking.map(({ sha3_384, why }) => `the blob ${sha3_384} is not in it (${why} when it was made)`),
  ];
  const good = lines.length === 0;
  const more = lines.length > shown ? [`  and ${String(lines.length - shown)} more; --json lists them all`] : [];
  const others =
    elsewhere === 0
      ? ''
      : ` ${counted(elsewhere, 'blob is', 'blobs are')} in earlier backups; name those with --base to have them read too.`;
  return {
    text: good
      ? `The backup of ${manifest.madeAt} in ${file} is good: ${counted(read, 'file')}, each held against its digest, and its database. ${proof}${others}`
      : [
          `The backup of ${manifest.madeAt} in ${file} is not good:`,
          ...lines.slice(0, shown).map((line) => `  ${line}`),
          ...more,
          'Keep it until a good one is made: what is not named here can be had from it.',
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
