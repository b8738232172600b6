// Measures how much deltas between two revisions of a snap save devices. The snaps are programs of Debian in two versions, packed as
// `snap pack` does. Compares three deltas: of xdelta3 and of the store between the two files, and of snapd's format `snap-1-1-xdelta3`
// between their uncompressed contents, which the store does not make (decision 11).
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
const compressions = ['xz', 'lzo'] as const;
/** Below this share of saved bytes, a delta is not worth the disk and the processor time. */
const worthwhile = 40;

/** Sizes in bytes of the newer file and of its deltas, with the cost of making them. */
interface Measured {
  size: number;
  theirs: { size: number; seconds: number };
  ours: { size: number; seconds: number; megabytes: number };
  /** Between the uncompressed contents. */
  contents: { size: number };
}

/** Prints for each program the share of the newer file that a device does not fetch, and the medians. */
export async function deltas(): Promise<void> {
  const missing = ['mksquashfs', 'unsquashfs', 'xdelta3', 'apt-get', 'dpkg-deb'].filter(
    (tool) => spawnSync(tool).error,
  );
  if (missing.length > 0) {
    console.log(`deltas: not measured, ${missing.join(', ')} missing (Debian: apt install squashfs-tools xdelta3)`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'larder-bench-deltas-'));
  const all: Measured[] = [];
  const saved: Record<(typeof compressions)[number], number[]> = { xz: [], lzo: [] };
  try {
    for (const program of programs) {
      const versions = versionsOf(program);
      const trees = versions.map((version) => unpacked(program, version, folder));
      if (trees.length < 2) {
        console.log(`  ${program}: only ${versions.join(', ') || 'none'} to be had`);
        continue;
      }
      const columns = compressions.map((compression) => {
        const measurement = measured(trees, compression);
        all.push(measurement);
        const share = (size: number): string => (100 * (1 - size / measurement.size)).toFixed(0);
        saved[compression].push(100 * (1 - measurement.ours.size / measurement.size));
        const shares = `xdelta3 ${share(measurement.theirs.size)}, contents ${share(measurement.contents.size)}`;
        return `${compression} ${(measurement.size / 1e6).toFixed(1)} MB, saves ${share(measurement.ours.size)} % (${shares})`;
      });
      console.log(`  ${program.padEnd(27)} ${versions.join(' → ').padEnd(48)} ${columns.join('; ')}`);
      for (const tree of trees) rmSync(tree, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (all.length > 0) compare(all);
  for (const compression of compressions) {
    const [middle, worth] = [
      median(saved[compression]),
      saved[compression].filter((percent) => percent >= worthwhile).length,
    ];
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
  const format = ([middle, maximum]: [number, number], digits: number): string =>
    `${middle.toFixed(digits)} in the median, ${maximum.toFixed(digits)} at most`;
  console.log(
    `size of ours by that of xdelta3: ${format(
      of(({ ours, theirs }) => ours.size / theirs.size),
      3,
    )}`,
  );
  console.log(
    `saved by deltas of the contents, %: ${format(
      of(({ contents, size }) => 100 * (1 - contents.size / size)),
      0,
    )}`,
  );
  console.log(
    `seconds for 10 MB, ours: ${format(
      of(({ ours, size }) => (1e7 * ours.seconds) / size),
      2,
    )}`,
  );
  console.log(
    `seconds for 10 MB, xdelta3: ${format(
      of(({ theirs, size }) => (1e7 * theirs.seconds) / size),
      2,
    )}`,
  );
  console.log(
    `memory of ours with all of node, MB: ${format(
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
  const output = execFileSync(process.execPath, [encoder, older, newer, ours], { encoding: 'utf8' });
  const cost = JSON.parse(output) as { seconds: number; megabytes: number };
  const contents = [older, newer].map((image) => {
    rmSync(`${image}.pf`, { force: true });
    execFileSync('unsquashfs', ['-no-progress', '-pf', `${image}.pf`, image], { stdio: 'pipe' });
    return `${image}.pf`;
  });
  execFileSync('xdelta3', ['-7', '-e', '-f', '-A', '-s', contents[0]!, contents[1]!, `${newer}.contents`]);
  return {
    size: statSync(newer).size,
    theirs: { size: statSync(theirs).size, seconds },
    ours: { size: statSync(ours).size, ...cost },
    // snapd's header in front has 32 bytes.
    contents: { size: statSync(`${newer}.contents`).size + 32 },
  };
}
