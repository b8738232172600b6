// Unpacks a transfer to plain files for scanners, and packs it again. Everything but the content follows from the statement and its
// signatures, so packing reproduces the transfer byte for byte.
import { createDigest, type Hash } from '#domain/cryptography.ts';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { Refusal } from '#domain/refusal.ts';
import { isDesktopFile } from '#files/desktop-files.ts';
import { toAppendOnlyFile, syncFolder, createDurableFile } from '#files/durable-streams.ts';
import { formatChanged, formatNames, type UnpackedTransfer } from './unpacked-folder.ts';
import { signaturesName, statementName } from './members.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { pathsOf, sumsName, sumsOf } from './paths.ts';
import type { OpenPart } from './open-part.ts';
import { serializeSignatures, addSignature, mergeSignatures } from '../statement/signatures.ts';
import type { SiteSigner } from '../statement/site-keys.ts';
import { ContentMismatch } from './part-bytes.ts';
import { oneTransfer, partFile, writeParts } from './part-files.ts';

interface UnpackOptions {
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
}

/** Writes and verifies all files of the parts in an empty folder, and removes them on failure. Returns the paths. */
export async function unpack(parts: readonly OpenPart[], folder: string, doing: UnpackOptions): Promise<string[]> {
  const all = requireAllParts(parts);
  const [{ bytes, statement }] = all;
  const signatures = serializeSignatures(mergeSignatures(all.map(({ signatureList }) => signatureList)));
  const paths = pathsOf(statement);
  await requireEmptyFolder(folder);
  const begun = [...new Set([statementName, ...paths].map(dirname))];
  try {
    for (const name of begun) await mkdir(join(folder, name), { mode: 0o755 });
    await layOut(all, folder, paths, doing);
    doing.signal.throwIfAborted();
    await createDurableFile(join(folder, statementName), bytesOf(bytes), 0o644);
    await createDurableFile(join(folder, signaturesName), bytesOf(signatures), 0o644);
    await createDurableFile(join(folder, sumsName), sumsOf(statement, paths), 0o644);
    for (const name of [...begun, '.']) await syncFolder(join(folder, name));
  } catch (error) {
    for (const name of [...begun, sumsName]) await rm(join(folder, name), { recursive: true, force: true });
    throw error;
  }
  return paths;
}

/** Returns the parts in order without duplicates. Refuses unless all are present and still packed. */
function requireAllParts(parts: readonly OpenPart[]): [OpenPart, ...OpenPart[]] {
  const first = oneTransfer(parts);
  if (parts.some(({ takenOut }) => takenOut !== undefined)) {
    throw new Refusal('conflict', `${first.file} is unpacked already.`);
  }
  const numbered = new Map(parts.map((part) => [part.part, part]));
  const count = first.statement.parts.length;
  const lacking = first.statement.parts.map((_, at) => at + 1).filter((part) => !numbered.has(part));
  if (lacking.length > 0) {
    throw new Refusal(
      'conflict',
      `Part ${lacking.join(', ')} of ${String(count)} is missing. A transfer can be unpacked only with all of its parts.`,
    );
  }
  const [leading = first, ...others] = [...numbered.values()].sort((a, b) => a.part - b.part);
  return [leading, ...others];
}

async function requireEmptyFolder(folder: string): Promise<void> {
  try {
    if ((await readdir(folder)).every((name) => isDesktopFile(join(folder, name)))) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      await mkdir(folder, { mode: 0o755 });
      return;
    }
    if (code === 'ENOTDIR') throw new Refusal('conflict', `${folder} is a file. Name an empty folder last.`);
    throw error;
  }
  throw new Refusal('conflict', `${folder} is not empty. A transfer can be unpacked only into an empty folder.`);
}

async function layOut(
  parts: readonly OpenPart[],
  folder: string,
  paths: readonly string[],
  { signal, progress }: UnpackOptions,
): Promise<void> {
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  const begun = new Set<number>();
  const cut = new Map<number, Hash>();
  let done = 0;
  for (const part of parts) {
    for await (const { piece, of, bytes } of part.pieces()) {
      if (piece.size !== of.size) cut.set(piece.blob, cut.get(piece.blob) ?? createDigest('content sha256'));
      const handle = await open(join(folder, paths[piece.blob]!), begun.has(piece.blob) ? 'a' : 'ax', 0o644);
      begun.add(piece.blob);
      try {
        const file = toAppendOnlyFile(handle, { sendOn: true });
        for await (const some of bytes()) {
          signal.throwIfAborted();
          await file.append(some);
          cut.get(piece.blob)?.update(some);
          progress('unpacking', (done += some.length), total);
        }
        await file.finish();
      } finally {
        await handle.close();
      }
    }
  }
  // The pieces were verified one by one; verify the complete contents too.
  for (const [blob, hash] of cut) {
    if (hash.digest('hex') === parts[0]!.statement.blobs.at(blob)!.sha256) continue;
    throw new NotATransfer(`The pieces of ${paths[blob]!} are not those of the content that the statement names.`);
  }
}

/** Adds a signature to an unpacked transfer after verifying all its files. Returns the transfer id. */
export async function signUnpacked(
  parts: readonly OpenPart[],
  folder: string,
  signer: SiteSigner,
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<string> {
  const { id, bytes, signatureList, takenOut } = oneTransfer(parts);
  if (takenOut === undefined)
    throw new Refusal('conflict', `${folder} is not unpacked. Unpack it with 'larder transfer unpack'.`);
  for (const part of parts) {
    // Reading a piece to its end verifies it.
    for await (const piece of part.pieces()) await readToEnd(piece.bytes());
  }
  const signatures = await addSignature(bytes, signer, signatureList);
  const file = join(folder, signaturesName);
  const fresh = join(folder, `${signaturesName}.new`);
  await asCaller(async () => {
    await rm(fresh, { force: true });
    await createDurableFile(fresh, bytesOf(signatures), 0o644);
    await rename(fresh, file);
    await syncFolder(dirname(file));
  });
  return id;
}

/** Writes the parts of an unpacked transfer again. Refuses if a file was changed or removed. */
export async function pack(
  { transfer, parts, paths }: UnpackedTransfer,
  folder: string,
  file: string,
  { signal, progress }: UnpackOptions,
): Promise<{ files: string[]; bytes: number }> {
  const lacking = [...new Set(parts.flatMap(({ takenOut }) => takenOut ?? []))];
  if (lacking.length > 0) {
    throw new Refusal(
      'conflict',
      `${formatNames(lacking)} ${lacking.length === 1 ? 'is' : 'are'} missing, and the signature of the source covers all files. ` +
        `Receive the remaining files with 'larder transfer receive ${folder}'.`,
    );
  }
  const pathOf = new Map(transfer.statement.blobs.values().map((blob, at) => [blob.sha256, paths[at]!]));
  const numbers = parts.map(({ part }) => part);
  const files = numbers.map((part) => partFile(file, part, numbers.length));
  try {
    const placed = await writeParts(transfer, numbers, files, {
      signal,
      progress,
      asCaller: (work) => work(),
      async *content(blob, offset, size) {
        if (size === 0) return;
        const path = join(folder, pathOf.get(blob.sha256)!);
        for await (const bytes of createReadStream(path, { start: offset, end: offset + size - 1 })) {
          signal.throwIfAborted();
          yield bytes as Buffer;
        }
      },
    });
    await placed.place();
    return { files, bytes: placed.bytes };
  } catch (error) {
    if (!(error instanceof ContentMismatch)) throw error;
    throw new NotATransfer(formatChanged([pathOf.get(error.blob.sha256)!]), { cause: error });
  }
}

async function readToEnd(bytes: AsyncGenerator): Promise<void> {
  while ((await bytes.next()).done !== true);
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
