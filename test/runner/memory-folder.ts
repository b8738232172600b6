// The folder for the stores of a run: in memory, if the host has such a folder with room. Without it the fsync of each commit costs a tenth
// of the processor time of `npm test`, and none of its tests cuts the power.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const place = '/dev/shm';
/** More than all tests that run at a time write. */
const minFreeBytes = 3 * 1024 ** 3;

/** Whether programs may run in a file system in memory at the place, as the tests start scripts that they have written. */
function isUsable(): boolean {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const [, , type, options = ''] = mounts.findLast((line) => line.split(' ')[1] === place)?.split(' ') ?? [];
    const { bavail, bsize } = statfsSync(place);
    return (
      type === 'tmpfs' && !options.split(',').includes('noexec') && Math.min(bavail * bsize, freemem()) > minFreeBytes
    );
  } catch {
    return false;
  }
}

/** A new folder in memory, gone when this process ends; undefined if the host has none, TMPDIR names another place, or a server keeps the data. */
export function makeMemoryFolder(): string | undefined {
  const { TMPDIR, LARDER_RECORDS, LARDER_BLOBS } = process.env;
  if ((TMPDIR ?? LARDER_RECORDS ?? LARDER_BLOBS) !== undefined || !isUsable()) return undefined;
  const folder = mkdtempSync(join(place, 'larder-'));
  // As /tmp: tests that run commands as another user make their folders here.
  chmodSync(folder, 0o1777);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  return folder;
}
