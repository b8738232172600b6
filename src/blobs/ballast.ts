// Keeps 64 MiB in reserve. On a full disk a database can neither delete rows nor write its journal back; releasing the
// ballast makes room for that.
import { randomFill } from '#domain/cryptography.ts';
import { lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Space } from './space.ts';

const piece = 1024 * 1024;
export const ballastBytes = 64 * piece;
const fill: (bytes: Buffer) => Promise<unknown> = promisify(randomFill);

/** The blocks are filled with random bytes: a file system that compresses or deduplicates would reserve no space for zeros. */
export async function keepBallast(
  folder: string,
  room: Space,
  sync: (file: FileHandle) => Promise<void>,
): Promise<boolean> {
  const place = join(folder, 'ballast');
  if (await isThere(place)) return true;
  if ((await room.free()) < ballastBytes) return false;
  const claim = await room.claim(ballastBytes);
  const file = await open(`${place}.tmp`, 'w', 0o600);
  try {
    const bytes = Buffer.allocUnsafe(piece);
    for (let at = 0; at < ballastBytes; at += piece) {
      await fill(bytes);
      await file.write(bytes, 0, piece, at);
      // Bytes that are written and still claimed would count twice, and uploads to a small disk would find no room.
      await claim.wrote(at + piece);
    }
    await sync(file);
    await rename(`${place}.tmp`, place).catch(async (error: unknown) => {
      // Another process, or a job of this one, has created the ballast at the same time.
      if (!(await isThere(place))) throw error;
    });
    return true;
  } finally {
    await file.close();
    await rm(`${place}.tmp`, { force: true });
    await claim.release();
  }
}

/** Releases the ballast, if there is one. Some file systems free the space only when the change of the folder is durable. */
export async function releaseBallast(folder: string): Promise<boolean> {
  const place = join(folder, 'ballast');
  if (!(await isThere(place))) return false;
  await rm(place, { force: true });
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
  return true;
}

async function isThere(place: string): Promise<boolean> {
  const stats = await lstat(place).catch(() => undefined);
  return stats?.size === ballastBytes;
}
