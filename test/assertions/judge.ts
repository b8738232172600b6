// snapd's own library as a judge; it needs Go and the library as Debian packages, see test/akrverify/.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Judgement {
  status: number | null;
  stderr: string;
  result: Record<string, unknown>;
}

const gocode = process.env['GOCODE'] ?? '/usr/share/gocode';

/** What must be installed before it can judge. */
export function snapdMissing(): string[] {
  const packages = {
    'golang-github-snapcore-snapd-dev': 'github.com/snapcore/snapd/asserts',
    'golang-golang-x-crypto-dev': 'golang.org/x/crypto/openpgp',
    'golang-golang-x-sys-dev': 'golang.org/x/sys',
    'golang-gopkg-tomb.v2-dev': 'gopkg.in/tomb.v2',
    'golang-gopkg-yaml.v2-dev': 'gopkg.in/yaml.v2',
  };
  const absent = Object.entries(packages).filter(([, path]) => !existsSync(join(gocode, 'src', path)));
  const go = spawnSync('go', ['version']).status === 0 ? [] : ['golang-go'];
  return [...go, ...absent.map(([name]) => name)];
}

const home = join(import.meta.dirname, '../akrverify');
const cache = join(import.meta.dirname, '../../node_modules/.cache');

/** What the judge is built from: its own files, and the library as the package brought it. */
const sources = (): unknown[] => [
  ...readdirSync(home).map((name) => [name, readFileSync(join(home, name), 'utf8')]),
  ['go', spawnSync('go', ['version'], { encoding: 'utf8' }).stdout],
  ['library', gocode, statSync(join(gocode, 'src/github.com/snapcore/snapd/asserts')).mtimeMs],
];

/** Builds the judge, unless it was built before; it takes a stream of assertions and the flags of test/akrverify. */
export function buildJudge(): (text: string, ...flags: string[]) => Judgement {
  const tool = join(cache, `akrverify-${hash('sha256', JSON.stringify(sources())).slice(0, 32)}`);
  if (!existsSync(tool)) {
    const fresh = `${tool}.${String(process.pid)}`;
    const build = spawnSync('sh', [join(home, 'build.sh'), fresh], {
      encoding: 'utf8',
      // Compiled packages are kept, too; without them each build takes twenty seconds.
      env: { ...process.env, GOCACHE: join(cache, 'go-build') },
    });
    if (build.status !== 0) throw new Error(`cannot build the judge: ${build.stderr}`);
    renameSync(fresh, tool);
  }
  return (text, ...flags) => {
    const { status, stdout, stderr } = spawnSync(tool, flags, { input: text, encoding: 'utf8' });
    return { status, stderr, result: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
  };
}
