// What deltas between two revisions of a snap would save devices: programs of Debian in two versions, packed as `snap pack`
// does, and the VCDIFF that xdelta3 makes of the two files as they are; and beside it the one that the store makes.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { median } from './harness/measure.ts';

const programs = [
  ...[
    'chromium-driver',
    'clamav',
    'containerd',
    'dovecot-core',
    'erlang-base',
    'git',
    'git-lfs',
    'grub-emu',
    'inkscape',
  ],
  ...['libjavascriptcoregtk-6.0-1', 'libnode108', 'libruby3.1', 'linux-perf', 'mariadb-server-core', 'mkvtoolnix'],
  ...['postgresql-15', 'samba-libs', 'systemd', 'vlc-plugin-base', 'xserver-xorg-core'],
];
const compressions = ['xz', 'zstd'] as const;
/** Where the median is less, a delta is not worth the disk and the processor that it costs. */
const worthwhile = 40;

/** What of the newer file is made by xdelta3 and by us, in bytes, seconds and megabytes of memory. */
interface Measured {
  size: number;
  theirs: { size: number; seconds: number };
  ours: { size: number; seconds: number; megabytes: number };
}

/** Prints for each program what of the newer file a device that has the older one would not fetch, and the medians. */
export async function deltas(): Promise<void> {
  const missing = ['mksquashfs', 'xdelta3', 'apt-get', 'dpkg-deb'].filter((tool) => spawnSync(tool).error);
  if (missing.length > 0) {
    console.log(`deltas: not measured, ${missing.join(', ')} missing (Debian: apt install squashfs-tools xdelta3)`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'larder-bench-deltas-'));
  const all: Measured[] = [];
  const saved: Record<(typeof compressions)[number], number[]> = { xz: [], zstd: [] };
  try {
    for (const program of programs) {
      const versions = versionsOf(program);
      const trees = versions.map((version) => unpacked(program, version, folder));
      if (trees.length < 2) {
        console.log(`  ${program}: only ${versions.join(', ') || 'none'} to be had`);
        continue;
      }
      const columns = compressions.map((compression) => {
        const one = measured(trees, compression);
        all.push(one);
        saved[compression].push(100 * (1 - one.theirs.size / one.size));
        const [megabytes, ratio] = [(one.size / 1e6).toFixed(1), (one.ours.size / one.theirs.size).toFixed(3)];
        return `${compression} ${megabytes} MB, saves ${saved[compression].at(-1)!.toFixed(0)} %, ours × ${ratio}`;
      });
      console.log(`  ${program.padEnd(27)} ${versions.join(' → ').padEnd(48)} ${columns.join('; ')}`);
      for (const tree of trees) rmSync(tree, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (all.length > 0) compare(all);
  for (const compression of compressions) {
    const [middle, worth] = [median(saved[compression]), saved[compression].filter((one) => one >= worthwhile).length];
    const pairs = saved[compression].length;
    console.log(
      `${compression}: of ${pairs} pairs the median saves ${middle.toFixed(0)} %; ${worth} save ${worthwhile} % or more`,
    );
  }
}

function compare(all: readonly Measured[]): void {
  const of = (value: (one: Measured) => number): [middle: number, most: number] => {
    const values = all.map(value);
    return [median(values), Math.max(...values)];
  };
  const said = ([middle, most]: [number, number], digits: number): string =>
    `${middle.toFixed(digits)} in the median, ${most.toFixed(digits)} at most`;
  console.log(
    `size of ours by that of xdelta3: ${said(
      of(({ ours, theirs }) => ours.size / theirs.size),
      3,
    )}`,
  );
  console.log(
    `seconds for 10 MB, ours: ${said(
      of(({ ours, size }) => (1e7 * ours.seconds) / size),
      2,
    )}`,
  );
  console.log(
    `seconds for 10 MB, xdelta3: ${said(
      of(({ theirs, size }) => (1e7 * theirs.seconds) / size),
      2,
    )}`,
  );
  console.log(
    `memory of ours with all of node, MB: ${said(
      of(({ ours }) => ours.megabytes),
      0,
    )}`,
  );
}

/** The two newest that the archive has, the older one first. */
function versionsOf(program: string): string[] {
  const table = execFileSync('apt-cache', ['madison', program], { encoding: 'utf8' });
  const versions = table.split('\n').flatMap((line) => line.split('|')[1]?.trim() ?? []);
  return [...new Set(versions)].slice(0, 2).reverse();
}

function unpacked(program: string, version: string, folder: string): string {
  const tree = join(folder, `${program}-${version.replaceAll(/[^\w.+~-]/g, '_')}`);
  const fetched = join(tree, 'deb');
  mkdirSync(fetched, { recursive: true });
  execFileSync('apt-get', ['-qq', 'download', `${program}=${version}`], { cwd: fetched, stdio: 'pipe' });
  execFileSync('sh', ['-c', 'dpkg-deb -x deb/*.deb root'], { cwd: tree });
  return tree;
}

function measured(trees: readonly string[], compression: string): Measured {
  const [older = '', newer = ''] = trees.map((tree) => {
    const image = join(tree, `${compression}.snap`);
    const options = ['-comp', compression, '-no-fragments', '-all-root', '-no-xattrs'];
    execFileSync('mksquashfs', [join(tree, 'root'), image, '-noappend', '-quiet', '-no-progress', ...options]);
    return image;
  });
  const [theirs, ours] = [`${newer}.xdelta3`, `${newer}.ours`];
  const began = performance.now();
  execFileSync('xdelta3', ['-3', '-e', '-f', '-S', 'none', '-s', older, newer, theirs]);
  const seconds = (performance.now() - began) / 1000;
  const encoder = join(import.meta.dirname, 'harness/delta-encoder.ts');
  const said = execFileSync(process.execPath, [encoder, older, newer, ours], { encoding: 'utf8' });
  const cost = JSON.parse(said) as { seconds: number; megabytes: number };
  return {
    size: statSync(newer).size,
    theirs: { size: statSync(theirs).size, seconds },
    ours: { size: statSync(ours).size, ...cost },
  };
}
