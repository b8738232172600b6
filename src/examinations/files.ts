// Examines the files: their owners, their permissions, and the free disk space.
import { lstatSync, readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';

import { diskSpace } from '#data/blobs.ts';
import { findReserveFault } from '#data/disk-size.ts';
import { formatBytes } from '#domain/byte-size.ts';
import type { Config } from '#configuration/config.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { ExaminationUnavailableError, findingOfFaults, well, wrong, type Examination } from './examination.ts';

export const owner: Examination = {
  subject: 'Owner',
  onHostAlone: true,
  look({ data }) {
    return findingOfFaults(ownerFaults(data), `everything belongs to ${nameOf(lstatSync(data).uid, '/etc/passwd')}`);
  },
};

/**
 * The fault if files belong to another user than the data directory. Names the files directly in it, else files up to `levels` folders
 * below, so that a shallower check gives the same result for the files it sees.
 */
export function ownerFaults(data: string, levels = maxLevels): Fault[] {
  const { uid, gid } = lstatSync(data);
  // A file system has a folder that always belongs to root.
  const isForeign = ({ name, stats }: ExaminedFile): boolean => stats.uid !== uid && name !== 'lost+found';
  const direct = entriesOf(data, 0).filter(isForeign);
  const foreign = direct.length > 0 || levels === 0 ? direct : entriesOf(data, levels).filter(isForeign);
  const [first] = foreign;
  if (first === undefined) return [];
  const owner = nameOf(uid, '/etc/passwd');
  return [
    describeFault('foreign-owner', {
      owner,
      files: listed(foreign),
      fileOwner: nameOf(first.stats.uid, '/etc/passwd'),
      command: `chown -R ${owner}:${nameOf(gid, '/etc/group')} ${data}`,
    }),
  ];
}

export const permissions: Examination = {
  subject: 'Permissions',
  onHostAlone: true,
  look({ data, config }) {
    const open = entriesOf(data, 0).filter(({ name, stats }) => !name.startsWith('store.lock') && isOpen(stats));
    if (isOpen(lstatSync(data))) open.unshift({ name: '.', stats: lstatSync(data) });
    if (open.length > 0) return wrong(`other users can read or write ${listed(open)}`, `chmod -R go= ${data}`);
    const [secret] = secretsOf(config).filter(isOpenToAll);
    return secret === undefined
      ? well('only the owner can read the data directory')
      : wrong(`all users of this machine can read ${secret}, which holds a secret`, `chmod o= ${secret}`);
  },
};

export const disk: Examination = {
  subject: 'Disk',
  look({ data, config }) {
    const space = diskSpace(data);
    const { reserve } = config().uploads;
    const says = `${formatBytes(space.diskFreeBytes)} of ${formatBytes(space.diskSizeBytes)} are free; uploads stop at ${formatBytes(reserve)} (uploads.reserve)`;
    return findingOfFaults(diskFaults(space, reserve), says);
  },
};

/** The faults if the disk is too small for the reserve, or if uploads have stopped or will stop soon; all in bytes. */
export function diskFaults({ diskFreeBytes: free, diskSizeBytes: size }: DataDiskSpace, reserve: number): Fault[] {
  const small = findReserveFault(size, reserve);
  if (small !== undefined) return [describeFault('reserve-too-large', small)];
  if (free <= reserve) return [describeFault('disk-reserve', {})];
  return free > reserve * 2 ? [] : [describeFault('disk-low', { free, size, reserve })];
}

type DataDiskSpace = ReturnType<typeof diskSpace>;

interface ExaminedFile {
  name: string;
  stats: Stats;
}

/** The secret files outside the data directory that the configuration names; empty if the configuration is invalid. */
function secretsOf(config: () => Config): string[] {
  try {
    const { keys, records, blobs, tls } = config();
    const files = [
      keys.master_key_file,
      keys.passphrase_file,
      records.password_file,
      blobs.credentials_file,
      tls.key_file,
    ];
    return files.filter((file) => file !== undefined);
  } catch (error) {
    if (error instanceof ExaminationUnavailableError) return [];
    throw error;
  }
}

const isOpenToAll = (file: string): boolean => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0;

/** The maximum of files checked: more add nothing new, and there are many blobs. */
const maxEntries = 20_000;
/** The maximum depth of folders checked below the data directory. */
const maxLevels = 3;

/** The entries of a folder and of its subfolders, up to `levels` levels down. */
function entriesOf(folder: string, levels = maxLevels): ExaminedFile[] {
  const entries: ExaminedFile[] = [];
  const waiting = [{ path: '', level: levels }];
  for (let next = waiting.shift(); next !== undefined && entries.length < maxEntries; next = waiting.shift()) {
    for (const entry of namesIn(join(folder, next.path))) {
      const name = join(next.path, entry);
      const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      entries.push({ name, stats });
      if (stats.isDirectory() && next.level > 0) waiting.push({ path: name, level: next.level - 1 });
    }
  }
  return entries;
}

/** Empty for an unreadable folder: its owner was checked one level up. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const listed = (entries: readonly ExaminedFile[]): string =>
  entries.length <= 6
    ? entries.map(({ name }) => name).join(', ')
    : `${entries
        .slice(0, 5)
        .map(({ name }) => name)
        .join(', ')} and ${String(entries.length - 5)} more`;

/** Whether users other than the owner may read or write it. */
const isOpen = (stats: Stats): boolean => !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0;

/** The name of a user or group; its number if it has no name. */
function nameOf(id: number, list: '/etc/passwd' | '/etc/group'): string {
  try {
    const lines = readFileSync(list, 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find((parts) => parts[2] === String(id))?.[0] ?? String(id);
  } catch {
    return String(id);
  }
}
