// Reads the releases of larder of a new transfer: from their folders, or from the releases that are kept here.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { noLarderRelease } from '#acts/store/larder-releases.ts';
import { toChunks, withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { findProblems } from '#contract/schema.ts';
import type { LarderReleaseManifest, TransferContent, TransferLarderRelease } from '#contract/wire.ts';
import { randomUUID } from '#domain/cryptography.ts';
import type { StoreRecords } from '#records/index.ts';
import { proveCarried, refuseLargeTexts } from '../larder-release/carried-release.ts';
import { listReleaseFiles, maxProofBytes, verifyRelease } from '../larder-release/verify-release.ts';
import { builtInKeys } from '../larder-release/release-keys.ts';

interface LarderReleaseContext {
  records: Pick<StoreRecords, 'larderReleases'>;
  blobs: Pick<Blobs, 'makeLocalCopy' | 'open' | 'receive'>;
  digests: Pick<DigestPool, 'ofFile'>;
  /** Runs file operations with the rights of the calling user. */
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>;
  signal: AbortSignal;
}

/** Whether a text is the version of a kept release, and not a folder. */
export const isReleaseVersion = (text: string): boolean => findProblems('LarderVersion', text).length === 0;

/**
 * Verifies a release with the keys of this program. The files of a folder are copied into the store once they are trusted; without a record
 * that needs them, the sweep removes them. Throws `UntrustedRelease`.
 *
 * @param release the path of a folder, or the version of a kept release
 */
export const readRelease = (release: string, context: LarderReleaseContext): Promise<TransferLarderRelease> =>
  isReleaseVersion(release) ? readKept(release, context) : readFolder(release, context);

async function readFolder(folder: string, context: LarderReleaseContext): Promise<TransferLarderRelease> {
  const { asCaller, signal, blobs } = context;
  const { manifest } = await asCaller(() => verifyRelease(folder, { trusted: builtInKeys(), installed: undefined }));
  refuseLargeTexts(manifest);
  const files: TransferLarderRelease['files'] = [];
  for (const name of await asCaller(() => listReleaseFiles(folder))) {
    signal.throwIfAborted();
    const { size = maxProofBytes } = manifest.files.find((file) => file.name === name) ?? {};
    files.push({ name, content: await copyIn(join(folder, name), size, context) });
  }
  return prove(manifest, files, blobs);
}

async function copyIn(file: string, limit: number, context: LarderReleaseContext): Promise<TransferContent> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await context.asCaller(() => open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  try {
    const stream = handle.createReadStream({ autoClose: false, highWaterMark: 1 << 20, signal: context.signal });
    const options = { id: randomUUID(), limit, expected: limit };
    const { sha256, sha3_384, size } = await context.blobs.receive(toChunks(stream as AsyncIterable<Buffer>), options);
    return { sha256, 'sha3-384': sha3_384, size };
  } finally {
    await handle.close();
  }
}

async function readKept(
  version: string,
  { records, blobs, digests }: LarderReleaseContext,
): Promise<TransferLarderRelease> {
  const stored = await records.larderReleases.find(version);
  if (stored === undefined) throw noLarderRelease(version, `; './${version}' names a folder`);
  const files: TransferLarderRelease['files'] = [];
  for (const { name, sha3_384, size } of await records.larderReleases.files(version)) {
    const { sha256 } = await withFile(blobs, sha3_384, (file) => digests.ofFile(file, ['sha256']));
    files.push({ name, content: { sha256, 'sha3-384': sha3_384, size } });
  }
  const { commitId, released } = stored;
  return prove({ version, released, ...(commitId !== null && { commit: commitId }) }, files, blobs);
}

/** The contents of the store are verified, and not the folder, which may have changed since. */
async function prove(
  { version, commit, released }: Pick<LarderReleaseManifest, 'version' | 'commit' | 'released'>,
  files: TransferLarderRelease['files'],
  blobs: Pick<Blobs, 'open'>,
): Promise<TransferLarderRelease> {
  const release = { version, ...(commit !== undefined && { commit }), released, files };
  await proveCarried(release, blobs);
  return release;
}
