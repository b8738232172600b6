// The lane of a test file is in its name.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** `npm test` needs Node and npm alone; the others may need Debian's programs, servers, or a long time. */
export const lanes = ['tests', 'tools', 'servers', 'long'] as const;
export type Lane = (typeof lanes)[number];
export const isLane = (name: string): name is Lane => (lanes as readonly string[]).includes(name);

/** The lane of a file: x.tools.test.ts, x.servers.test.ts and x.long.test.ts say theirs; x.test.ts is one of `npm test`. */
export function laneOf(file: string): Lane {
  const [, suffix = 'tests'] = /\.(tools|servers|long)\.test\.ts$/.exec(file) ?? [];
  return suffix as Lane;
}

/** Every file of tests, as a path from the root. */
export const allTestFiles = (): string[] => globSync('test/**/*.test.ts', { cwd: root }).sort();

/** With LARDER_LONG=0 the lane "long" does less: files that only make larger numbers of it are left out. */
const longForm = process.env['LARDER_LONG'] === '0' ? /fixtures\/large\.ts'/ : /fixtures\/large\.ts'|'LARDER_LONG'/;

/** Whether a file of `npm test` has more tests, or larger numbers, in the lane "long". */
const hasLongForm = (file: string): boolean =>
  laneOf(file) === 'tests' && longForm.test(readFileSync(join(root, file), 'utf8'));

/** The files of a lane; or the named ones, whichever their lane, and those of the lane in the named folders. */
export function selectFiles(lane: Lane, names: readonly string[]): string[] {
  const inLane = allTestFiles().filter((file) => laneOf(file) === lane || (lane === 'long' && hasLongForm(file)));
  if (names.length === 0) return inLane;
  const chosen = names.flatMap((name) => {
    const path = relative(root, resolve(name));
    if (path.endsWith('.test.ts') && existsSync(join(root, path))) return [path];
    const within = inLane.filter((file) => file.startsWith(`${path}/`));
    if (within.length === 0) throw new Error(`There are no tests at '${name}' in the lane '${lane}'.`);
    return within;
  });
  return [...new Set(chosen)];
}

/** Whether a file says in its first lines that it shares its process with no other. */
export const needsOwnProcess = (file: string): boolean =>
  readFileSync(join(root, file), 'utf8')
    .split('\n', 5)
    .some((line) => line.startsWith('// Own process: '));
