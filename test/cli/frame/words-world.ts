// Every command in some state of the machine, and the rule that none speaks in the words of the system or of SQLite.
import type { Test } from 'tap';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { groups } from '#cli/index.ts';
import { errorNameIn } from '#test/fixtures/system-words.ts';
import { newStore } from '#test/cli/process.ts';

type Checks = Pick<Test, 'same' | 'ok' | 'match' | 'equal'>;

interface Outcome {
  name: string;
  line: string;
  code: number;
  out: string;
  err: string;
}

const checkout = join(import.meta.dirname, '../../..');
/** SQLite's sentences, and places in a program where something happened. */
const internalWords =
  /SQLITE_|SqliteError|\bat .*\.[jt]s:|database disk image|unable to open|file is not a database|disk I\/O|database or disk|no such (?:file|table|column)|permission denied|errno|syscall/;

const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
/** All of them are run in each of the states below: some of these show the same of another place in the code. */
export const long = process.env['LARDER_LONG'] === '1';
export const isRoot = process.getuid?.() === 0;

/** A store with something in it, beside a folder for files. */
export async function store(t: Parameters<typeof newStore>[0]): Promise<{ data: string; place: string }> {
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

/** The output of every command in a state; `before` runs in a shell first, in a mount namespace of its own. */
export function everyCommand(
  state: string,
  { data, place }: { data: string; place: string },
  before = '',
): Outcome[] | undefined {
  const program = [process.execPath, join(import.meta.dirname, 'every-command.ts'), state, data, place];
  // All of them run in one process. Each that cannot open the database leaves two descriptors open until its end.
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
export function hold(t: Checks, outcomes: Outcome[], because: RegExp, least = 30): void {
  t.same(
    outcomes.map(({ name }) => name),
    names,
    'every command was run',
  );
  const failed = outcomes.filter(({ code, out, err }) => code !== 0 && because.test(out + err));
  t.ok(failed.length >= least, `${String(failed.length)} say so: ${String(because)}`);
  for (const { line, code, out, err } of outcomes) {
    const output = out + err;
    if (code !== 0) t.match(output, /\w+ \w+/, `${line}: it says why`);
    // The folder of the checkout may have any name.
    const text = output.replaceAll(checkout, '');
    const [internalWord] = internalWords.exec(text) ?? [];
    t.equal(internalWord ?? errorNameIn(text), undefined, `${line}: ${output.slice(0, 600)}`);
  }
}
