// The library of snapd as a reference; it needs Go and the library as Debian packages, see test/akrverify/.
import { execFile, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

export interface Judgement {
  status: number | null;
  stderr: string;
  result: Record<string, unknown>;
}

const gocode = process.env['GOCODE'] ?? '/usr/share/gocode';

/** The packages that it needs. */
export const snapdMissing = (): string[] => missing(forAssertions);

/** The same for its client of stores, which test/snapclient is built from. */
export const snapdClientMissing = (): string[] => missing({ ...forAssertions, ...forItsClient });

/** The same for its reader of snaps, which test/snapjudge is built from. */
export const snapJudgeMissing = (): string[] =>
  missing({ ...forAssertions, 'golang-dbus-dev': 'github.com/godbus/dbus' });

/** The packages that test/jujuclient needs. */
export const jujuClientMissing = (): string[] => missing({});

const forAssertions = {
  'golang-github-snapcore-snapd-dev': 'github.com/snapcore/snapd/asserts',
  'golang-golang-x-crypto-dev': 'golang.org/x/crypto/openpgp',
  'golang-golang-x-sys-dev': 'golang.org/x/sys',
  'golang-gopkg-tomb.v2-dev': 'gopkg.in/tomb.v2',
  'golang-gopkg-yaml.v2-dev': 'gopkg.in/yaml.v2',
};

const forItsClient = {
  'golang-dbus-dev': 'github.com/godbus/dbus',
  'golang-github-juju-ratelimit-dev': 'github.com/juju/ratelimit',
  'golang-golang-x-xerrors-dev': 'golang.org/x/xerrors',
  'golang-gopkg-macaroon.v1-dev': 'gopkg.in/macaroon.v1',
  'golang-gopkg-retry.v1-dev': 'gopkg.in/retry.v1',
};

function missing(packages: Record<string, string>): string[] {
  const absent = Object.entries(packages).filter(([, path]) => !existsSync(join(gocode, 'src', path)));
  const go = spawnSync('go', ['version']).status === 0 ? [] : ['golang-go'];
  return [...go, ...absent.map(([name]) => name)];
}

/** The same for snapd's own program, `snap`. */
export const snapCommandMissing = (): string[] => missing({ ...forAssertions, ...forItsClient, ...forItsProgram });

const forItsProgram = {
  'golang-github-boltdb-bolt-dev': 'github.com/boltdb/bolt',
  'golang-github-coreos-go-systemd-dev': 'github.com/coreos/go-systemd',
  'golang-github-gorilla-mux-dev': 'github.com/gorilla/mux',
  'golang-github-jessevdk-go-flags-dev': 'github.com/jessevdk/go-flags',
  'golang-github-mvo5-goconfigparser-dev': 'github.com/mvo5/goconfigparser',
  'golang-gopkg-yaml.v3-dev': 'gopkg.in/yaml.v3',
};

const cache = join(import.meta.dirname, '../../node_modules/.cache');
const folderOf = (program: string): string => join(import.meta.dirname, '..', program);

/** The sources of a program: its own files, and the library of the package. */
const sources = (program: string): unknown[] => [
  ...(program.includes('/') ? [] : readdirSync(folderOf(program))).map((name) => [
    name,
    readFileSync(join(folderOf(program), name), 'utf8'),
  ]),
  ['go', spawnSync('go', ['version'], { encoding: 'utf8' }).stdout],
  [
    'library',
    gocode,
    statSync(join(gocode, 'src/github.com/snapcore/snapd/asserts'), { throwIfNoEntry: false })?.mtimeMs,
  ],
];

/** Builds a program in the folder of its name below test/, or one of the library, unless it was built before; the path of it. */
function build(program: string, tags = ''): string {
  const of = hash('sha256', JSON.stringify([...sources(program), tags])).slice(0, 32);
  const tool = join(cache, `${basename(program)}-${of}`);
  if (existsSync(tool)) return tool;
  const fresh = `${tool}.${String(process.pid)}`;
  const built = spawnSync('sh', [join(folderOf('akrverify'), 'build.sh'), fresh, program, tags], {
    encoding: 'utf8',
    // Compiled packages are kept, too; without them each build takes twenty seconds.
    env: { ...process.env, GOCACHE: join(cache, 'go-build') },
  });
  if (built.status !== 0) throw new Error(`cannot build ${program}: ${built.stderr}`);
  renameSync(fresh, tool);
  return tool;
}

/** Builds the reference program; its input is a stream of assertions and the flags of test/akrverify. */
export function buildJudge(): (text: string, ...flags: string[]) => Judgement {
  const tool = build('akrverify');
  return (text, ...flags) => {
    const { status, stdout, stderr } = spawnSync(tool, flags, { input: text, encoding: 'utf8' });
    return { status, stderr, result: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
  };
}

/**
 * The reference for tests that also run without it: test/assertions/judged-elsewhere.tools.test.ts runs them with
 * LARDER_JUDGE=snapd.
 */
export const requestedJudge = (): ReturnType<typeof buildJudge> | undefined =>
  process.env['LARDER_JUDGE'] === 'snapd' ? buildJudge() : undefined;

const run = promisify(execFile);

/**
 * Builds a client of stores: the client of snapd, or the client with a clock that is behind. Its arguments are the
 * address of a store and a folder.
 */
export function buildClient(
  program: 'snapclient' | 'slowclock' = 'snapclient',
): (url: string, ...command: string[]) => Promise<Judgement> {
  const tool = build(program);
  return async (url, ...command) => {
    // While the client runs, the store in this process must answer it.
    const { code, stdout, stderr } = await run(tool, [url, ...command]).then(
      (done) => ({ ...done, code: 0 }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
    return { status: code, stderr, result: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
  };
}

/** A text or a file for test/snapjudge to read. */
export type SnapQuestion = { kind: 'yaml' | 'snap.yaml'; text: string } | { kind: 'snap' | 'folder'; path: string };

/** Its answer: the value read, or why a device refuses it. */
export interface SnapAnswer {
  value?: unknown;
  error?: string;
}

/** Builds the reader of snaps; it answers many questions in one process. */
export function buildSnapJudge(): (questions: readonly SnapQuestion[]) => SnapAnswer[] {
  const tool = build('snapjudge');
  return (questions) => {
    const input = questions.map((question) => JSON.stringify(question)).join('\n');
    const { status, stdout, stderr } = spawnSync(tool, { input, encoding: 'utf8', maxBuffer: 1 << 30 });
    if (status !== 0) throw new Error(`the judge of snaps has failed: ${stderr}`);
    const answers = stdout.trimEnd().split('\n');
    if (answers.length !== questions.length) throw new Error(`the judge of snaps has given ${answers.length} answers`);
    return answers.map((answer) => JSON.parse(answer) as SnapAnswer);
  };
}

/** Builds a client that asks and reads as juju does; the path of it. */
export const jujuClient = (): string => build('jujuclient');

/** The same as a function; its arguments are the address of a store and those of test/jujuclient. */
export function buildJujuClient(): (url: string, command: string[], input?: string) => Promise<Judgement> {
  const tool = jujuClient();
  return async (url, command, input = '') => {
    const execution = run(tool, [url, ...command], { maxBuffer: 16 << 20 });
    execution.child.stdin?.end(input);
    const { code, stdout, stderr } = await execution.then(
      (done) => ({ ...done, code: 0 }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
    return { status: code, stderr, result: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
  };
}

/** Builds the program `snap` of snapd with trust in its test roots; returns the path. */
export const buildSnapCommand = (): string => build('github.com/snapcore/snapd/cmd/snap', 'withtestkeys nosecboot');

/** The same for its daemon. */
export const buildSnapDaemon = (): string => build('github.com/snapcore/snapd/cmd/snapd', 'withtestkeys nosecboot');

/** Those roots, and an account-key of theirs for a key of ours, as streams. */
export function testRoots({ id, encoded }: { id: string; encoded: string }): { roots: string; key: string } {
  const { status, stdout, stderr } = spawnSync(build('testroot'), [id, encoded], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot make the test roots: ${stderr}`);
  const [account = '', rootKey = '', key = ''] = stdout.split(/\n\n(?=type: )/);
  return { roots: `${account}\n\n${rootKey}\n`, key: `${key.trimEnd()}\n` };
}
