// Whatever has happened to the machine under it, no command says it in the words of the system or of SQLite.
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { groups } from '#cli/index.ts';
import { folder, newStore } from './process.ts';

type Checks = Pick<typeof t, 'same' | 'ok' | 'match' | 'equal'>;

interface Outcome {
  name: string;
  line: string;
  code: number;
  out: string;
  err: string;
}

/** The system's words: names of errors, SQLite's sentences, and where in a program something happened. */
const theirs =
  /\bE[A-Z]{3,}\b|SQLITE_|SqliteError|\bat .*\.[jt]s:|database disk image|unable to open|file is not a database|disk I\/O|database or disk|no such (?:file|table|column)|permission denied|errno|syscall/;

const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
/** All of them are run in each of the states below: some of these show the same of another place in the code. */
const long = process.env['LARDER_LONG'] === '1';
const isRoot = process.getuid?.() === 0;

/** A store with something in it, beside a folder for files. */
async function store(t: Parameters<typeof newStore>[0]): Promise<{ data: string; place: string }> {
  const { data, larder } = await newStore(t);
  for (const line of [
    'brand create --account larder-admin --name Acme',
    'package register snap/hello --account larder-admin',
    'token issue --account larder-admin',
  ]) {
    const { code, err } = await larder(line);
    if (code !== 0) throw new Error(err);
  }
  const place = join(data, '../place');
  mkdirSync(place, { recursive: true });
  return { data, place };
}

/** What every command says in a state; `before` is run in a shell first, in a world of mounts of its own. */
function everyCommand(
  state: string,
  { data, place }: { data: string; place: string },
  before = '',
): Outcome[] | undefined {
  const program = [process.execPath, join(import.meta.dirname, 'every-command.ts'), state, data, place];
  // All of them run in one process, where each that cannot open the database leaves two descriptors open until it ends.
  const within =
    before === ''
      ? ['bash', '-c', 'ulimit -n 400; exec "$@"', 'bash', ...program]
      : [
          'unshare',
          ...(isRoot ? [] : ['--map-root-user']),
          '--mount',
          'bash',
          '-c',
          `set -e; ${before}; exec "$@"`,
          'bash',
          ...program,
        ];
  const env = { ...process.env };
  delete env['NODE_OPTIONS'];
  const { stdout, stderr, status } = spawnSync('/usr/bin/env', within, { encoding: 'utf8', maxBuffer: 1e8, env });
  if (before !== '' && stdout === '' && /unshare|mount/.test(stderr)) return undefined;
  if (status !== 0) throw new Error(`it ended with ${String(status)}: ${stderr.slice(-2000)}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

/** Holds all of them against the rule; at least so many must have failed for this reason, or nothing was shown. */
function hold(t: Checks, outcomes: Outcome[], because: RegExp, least = 30): void {
  t.same(
    outcomes.map(({ name }) => name),
    names,
    'every command was run',
  );
  const failed = outcomes.filter(({ code, out, err }) => code !== 0 && because.test(out + err));
  t.ok(failed.length >= least, `${String(failed.length)} say so: ${String(because)}`);
  for (const { line, code, out, err } of outcomes) {
    const said = out + err;
    if (code !== 0) t.match(said, /\w+ \w+/, `${line}: it says why`);
    const [found] = theirs.exec(said) ?? [];
    t.equal(found, undefined, `${line}: ${said.slice(0, 600)}`);
  }
}

/** Overwrites a part of the database. */
function damage(data: string, from: number, bytes: Buffer): void {
  const file = openSync(join(data, 'larder.db'), 'r+');
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
}

t.test('on a good machine', async (t) => {
  hold(t, everyCommand('as it is', await store(t))!, /There is no file return\.assert\./, 1);
});

t.test('with a damaged database', async (t) => {
  const header = await store(t);
  damage(header.data, 0, Buffer.alloc(100));
  hold(t, everyCommand('as it is', header)!, /the database .* is damaged/);

  if (!long) return;
  const pages = await store(t);
  const size = statSync(join(pages.data, 'larder.db')).size;
  damage(pages.data, 8192, Buffer.alloc(size - 8192, 0xa5));
  hold(t, everyCommand('as it is', pages)!, /the database .* is damaged/);
});

t.test('without descriptors', async (t) => {
  const few = await store(t);
  const because = /this process has too many files open; allow it more/;
  hold(t, everyCommand('no descriptor', few)!, because);
  if (!long) return;
  hold(t, everyCommand('two descriptors', few)!, because);
  hold(t, everyCommand('seven descriptors', few)!, because, 1);
});

t.test('with files that its user may not use', async (t) => {
  const theirs = await store(t);
  if (isRoot) for (const path of [join(theirs.data, '..'), theirs.data]) chownSync(path, 1234, 1234);
  else for (const name of readdirSync(theirs.data)) chmodSync(join(theirs.data, name), 0);
  hold(t, everyCommand('not allowed', theirs)!, /this user may not open .*larder\.toml/);
});

/** A copy on a file system of its own, which only the process sees that is started after it. */
function mounted(t: Parameters<typeof folder>[0], from: string): { data: string; place: string; before: string } {
  const mount = folder(t);
  const before = `mount -t tmpfs -o size=12m none ${mount}; cp -a ${from} ${mount}/data; mkdir ${mount}/place`;
  return { data: join(mount, 'data'), place: join(mount, 'place'), before };
}

t.test('on a full disk, and on one that can only be read', async (t) => {
  const { data } = await store(t);
  const { before, ...full } = mounted(t, data);
  const outcomes = everyCommand('full', full, before);
  if (outcomes === undefined) {
    t.comment('nobody may mount anything here');
    return;
  }
  hold(t, outcomes, /the disk that holds .* is full; make room on it/);
  const told = outcomes.find(({ name }) => name === 'doctor')?.out ?? '';
  t.match(
    told,
    /The whole disk has 12 MiB, and uploads\.reserve keeps 1024 MiB of it free, so nothing can be uploaded/,
  );
  const { before: copy, ...still } = mounted(t, data);
  const fixed = everyCommand('as it is', still, `${copy}; mount -o remount,ro ${join(still.data, '..')}`);
  if (fixed === undefined) t.comment('whoever may mount here may not mount anew');
  else hold(t, fixed, /is on a disk that can only be read; make it writable/);
});
