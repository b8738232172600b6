// Verifies a folder with a release of larder: signatures, names, sizes and digests of all its files.
import { constants, createWriteStream } from 'node:fs';
import { open, opendir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

import type { LarderReleaseKeys, LarderReleaseManifest } from '#contract/wire.ts';
import { createDigest } from '#domain/cryptography.ts';
import { isDesktopFile } from '#files/desktop-files.ts';
import { maxSignaturesBytes } from '../statement/signatures.ts';
import {
  manifestFile,
  readProvenManifest,
  readReleaseSignature,
  releaseFingerprint,
  rotationFile,
  signaturesFile,
  sshSignatureFile,
} from './manifest.ts';
import { followRotations } from './release-keys.ts';
import { UntrustedRelease } from './untrusted-release.ts';

/** A folder with more files is not a release. */
const maxFiles = 200;
export const maxProofBytes = maxSignaturesBytes;
const chunkBytes = 1 << 20;

export interface ReleaseVerification {
  /** The keys to trust, or the fingerprint of the key of a first installation. */
  trusted: LarderReleaseKeys | { fingerprint: string };
  /** The installed version; an older release is refused. Undefined accepts older releases. */
  installed: string | undefined;
  /** Returns the path for a copy of a file, which is written while the file is verified. */
  copyOf?: (name: string) => string | undefined;
}

export interface VerifiedRelease {
  manifest: LarderReleaseManifest;
  /** The fingerprints of the keys that were trusted, after the rotations in the folder. */
  fingerprints: string[];
}

/** Verifies the release in a folder. Throws `UntrustedRelease` with the reason if anything differs. */
export async function verifyRelease(folder: string, verification: ReleaseVerification): Promise<VerifiedRelease> {
  const { copyOf } = verification;
  const files = { names: await listReleaseFiles(folder), read: (name: string) => readText(folder, name) };
  const verified = await proveRelease(files, verification);
  for (const file of verified.manifest.files) await verifyFile(join(folder, file.name), file, copyOf?.(file.name));
  return verified;
}

/** The files of a release, in a folder or as contents of the store. */
export interface ReleaseFiles {
  /** All names, sorted. */
  names: readonly string[];
  /** Reads a small text. Throws `UntrustedRelease` if it is missing or too large. */
  read: (name: string) => Promise<string>;
}

/** Verifies the manifest of a release and the names of its files. The caller compares the files with the manifest. */
export async function proveRelease(
  { names, read }: ReleaseFiles,
  { trusted, installed }: Pick<ReleaseVerification, 'trusted' | 'installed'>,
): Promise<VerifiedRelease> {
  const proof = {
    manifest: await read(manifestFile),
    sshSignature: await read(sshSignatureFile),
    signatures: await read(signaturesFile),
  };
  const rotations = names.filter((name) => /^rotation-[1-9]\d{0,2}\.json$/.test(name)).length;
  const rotationFiles = Array.from({ length: rotations }, (_, at) => rotationFile(at + 1));
  const texts: string[] = [];
  for (const name of rotationFiles) texts.push(await read(name));
  const keys = keysFor(trusted, proof.sshSignature, texts);
  const manifest = readProvenManifest(proof, keys);
  if (installed !== undefined && compareVersions(manifest.version, installed) < 0)
    throw new UntrustedRelease(
      `It is release ${manifest.version}, older than the installed ${installed}. '--older' accepts an older one.`,
    );
  refuseOtherFiles(names, [manifestFile, sshSignatureFile, signaturesFile, ...rotationFiles], manifest);
  return { manifest, fingerprints: keys.keys.map(releaseFingerprint) };
}

/** Returns the keys that the manifest must be signed with. */
function keysFor(
  trusted: ReleaseVerification['trusted'],
  sshSignature: string,
  rotations: readonly string[],
): LarderReleaseKeys {
  if ('keys' in trusted) return trusted.keys.length === 0 ? trusted : followRotations(trusted, rotations);
  const { key } = readReleaseSignature(sshSignature);
  if (key.fingerprint !== trusted.fingerprint || !key.line.startsWith('ssh-ed25519 '))
    throw new UntrustedRelease(`It is signed with the key ${key.fingerprint}, which is another one.`);
  // The last 32 bytes of the key blob are the point.
  const point = Buffer.from(key.line.split(' ')[1]!, 'base64').subarray(-32).toString('base64url');
  return { site: 'larder', rotation: 0, threshold: 1, keys: [point], former: [] };
}

function refuseOtherFiles(names: readonly string[], proof: readonly string[], manifest: LarderReleaseManifest): void {
  const expected = new Set([...proof, ...manifest.files.map(({ name }) => name)]);
  const missing = [...expected].filter((name) => !names.includes(name));
  if (missing.length > 0) throw new UntrustedRelease(`These files are missing: ${missing.join(', ')}.`);
  const other = names.filter((name) => !expected.has(name));
  if (other.length > 0)
    throw new UntrustedRelease(`There are files that do not belong to it: ${other.slice(0, 3).join(', ')}.`);
}

/** The names in the folder of a release, sorted, without the files of a desktop that has seen the stick. */
export async function listReleaseFiles(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (isDesktopFile(join(folder, name))) continue;
    names.push(name);
    if (names.length > maxFiles) throw new UntrustedRelease('The folder has too many files.');
  }
  return names.sort();
}

/** Runs work on a plain file. A symbolic link, device or pipe is refused. */
async function withFile<Result>(
  path: string,
  work: (handle: FileHandle, size: number) => Promise<Result>,
): Promise<Result> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw new UntrustedRelease(`These files are missing: ${name}.`);
      if (code === 'ELOOP') throw new UntrustedRelease(`${name} is not a plain file.`);
      throw error;
    },
  );
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new UntrustedRelease(`${name} is not a plain file.`);
    return await work(handle, status.size);
  } finally {
    await handle.close();
  }
}

const readText = (folder: string, name: string): Promise<string> =>
  withFile(join(folder, name), async (handle, size) => {
    if (size > maxProofBytes) throw new UntrustedRelease(`${name} is too large.`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  });

/** Compares a file with the manifest, and writes the same bytes to a copy if there is one. */
async function verifyFile(
  path: string,
  { name, size, sha256 }: LarderReleaseManifest['files'][number],
  copy: string | undefined,
): Promise<void> {
  await withFile(path, async (handle, present) => {
    if (present !== size) throw new UntrustedRelease(`${name} has another size than the manifest says.`);
    const digest = createDigest('content sha256');
    const out = copy === undefined ? undefined : createWriteStream(copy, { flags: 'wx', mode: 0o644 });
    const chunk = Buffer.alloc(Math.min(size, chunkBytes) || 1);
    for (let at = 0; at < size;) {
      const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, size - at), at);
      if (bytesRead === 0) break;
      digest.update(chunk.subarray(0, bytesRead));
      if (out !== undefined)
        await new Promise<void>((resolve, reject) =>
          out.write(Buffer.from(chunk.subarray(0, bytesRead)), (error) => (error ? reject(error) : resolve())),
        );
      at += bytesRead;
    }
    if (out !== undefined) await finished(out.end());
    if (digest.digest('hex') !== sha256) throw new UntrustedRelease(`${name} is not the file that was signed.`);
  });
}

/** Compares versions of larder; the schema bounds them to three numbers. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(Number), right.split('.').map(Number)];
  const at = a.findIndex((number, index) => number !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
