// snapd's own library as a judge; it needs Go and the library as Debian packages, see test/akrverify/.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Judgement {
  status: number | null;
  stderr: string;
  result: Record<string, unknown>;
}

/** What must be installed before it can judge. */
export function snapdMissing(): string[] {
  const sources = process.env['GOCODE'] ?? '/usr/share/gocode';
  const packages = {
    'golang-github-snapcore-snapd-dev': 'github.com/snapcore/snapd/asserts',
    'golang-golang-x-crypto-dev': 'golang.org/x/crypto/openpgp',
    'golang-golang-x-sys-dev': 'golang.org/x/sys',
    'golang-gopkg-tomb.v2-dev': 'gopkg.in/tomb.v2',
    'golang-gopkg-yaml.v2-dev': 'gopkg.in/yaml.v2',
  };
  const absent = Object.entries(packages).filter(([, path]) => !existsSync(join(sources, 'src', path)));
  const go = spawnSync('go', ['version']).status === 0 ? [] : ['golang-go'];
  return [...go, ...absent.map(([name]) => name)];
}

/** Builds the judge; it takes a stream of assertions and the flags of test/akrverify. */
export function buildJudge(t: {
  teardown(work: () => unknown): void;
}): (text: string, ...flags: string[]) => Judgement {
  const folder = mkdtempSync(join(tmpdir(), 'larder-judge-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const tool = join(folder, 'akrverify');
  const build = spawnSync('sh', [join(import.meta.dirname, '../akrverify/build.sh'), tool], {
    encoding: 'utf8',
    // Compiled packages are kept between runs; without them each build takes twenty seconds.
    env: { ...process.env, GOCACHE: join(import.meta.dirname, '../../node_modules/.cache/go-build') },
  });
  if (build.status !== 0) throw new Error(`cannot build the judge: ${build.stderr}`);
  return (text, ...flags) => {
    const { status, stdout, stderr } = spawnSync(tool, flags, { input: text, encoding: 'utf8' });
    return { status, stderr, result: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
  };
}
