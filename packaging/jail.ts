// Poor environments for the smoke test of the executable: a directory with only the executable and its shared
// libraries, as the root of a mount namespace that is read-only except for a few directories. That needs root; other
// users only get an empty environment.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Place {
  /** Whether /proc is there. */
  readonly proc?: boolean;
  /** The writable directories that allow programs to run. */
  readonly exec?: readonly ('/tmp' | '/cache')[];
  /** The file to install as /usr/lib/larder/better_sqlite3.node. */
  readonly installed?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Jail {
  /** The path of the place from outside. */
  readonly directory: string;
  /** The data directory, seen from inside. */
  readonly data: string;
  larder(...args: string[]): ChildProcess;
}

/** Whether places can be built at all. */
export const jailed = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

const writable = ['tmp', 'var/tmp', 'dev/shm', 'cache', 'data'];
const nobody = 65534;

/**
 * Runs in a mount namespace of its own, outside the new root. The program that it starts at the end sees only the new
 * root.
 */
const enter = `
set -eu
root=$1 executable=$2 proc=$3 exec=$4
shift 4
mount --bind "$root" "$root"
mount --bind "$executable" "$root/usr/bin/larder"
for directory in ${writable.join(' ')}; do
  mount --bind "$root/$directory" "$root/$directory"
  case " $exec " in
    *" /$directory "*) ;;
    *) mount -o remount,bind,noexec,nosuid,nodev "$root/$directory" ;;
  esac
done
if [ "$proc" = true ]; then mount --rbind /proc "$root/proc"; fi
mount -o remount,bind,ro "$root"
exec env -i "$@"
`;

/** Makes a place in an empty directory. */
export function jail(directory: string, executable: string, { proc, exec, installed, environment }: Place): Jail {
  for (const path of [...writable, 'proc', 'usr/bin', 'usr/lib/larder']) makeDirectory(directory, path);
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  if (!jailed) {
    const larder = (...args: string[]) => spawn(executable, args, { stdio, env: { ...environment } });
    return { directory, data: join(directory, 'data'), larder };
  }
  for (const path of writable) chownSync(join(directory, path), nobody, nobody);
  writeFileSync(join(directory, 'usr/bin/larder'), '');
  for (const library of sharedLibraries(executable)) install(realpathSync(library), directory, library);
  if (installed !== undefined) install(installed, directory, '/usr/lib/larder/better_sqlite3.node');

  const variables = Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`);
  const mounts = [directory, executable, String(proc ?? false), (exec ?? []).join(' ')];
  const chroot = ['/usr/sbin/chroot', `--userspec=${String(nobody)}:${String(nobody)}`, directory, '/usr/bin/larder'];
  const command = ['--mount', 'sh', '-c', enter, 'sh', ...mounts, ...variables, ...chroot];
  return { directory, data: '/data', larder: (...args) => spawn('unshare', [...command, ...args], { stdio }) };
}

/** The dynamic loader is among them. The native module needs no others. */
function sharedLibraries(executable: string): string[] {
  const lines = execFileSync('ldd', [executable], { encoding: 'utf8' });
  return [...lines.matchAll(/(?:=> |^\s*)(\/\S+)/gm)].map(([, path = '']) => path);
}

function install(from: string, directory: string, path: string): void {
  makeDirectory(directory, dirname(path));
  copyFileSync(from, join(directory, path));
  chmodSync(join(directory, path), 0o755);
}

function makeDirectory(directory: string, path: string): void {
  mkdirSync(join(directory, path), { recursive: true });
  for (let at = path; at !== '.' && at !== '/'; at = dirname(at)) chmodSync(join(directory, at), 0o755);
  chmodSync(directory, 0o755);
}
