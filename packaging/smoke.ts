// The smoke test: dist/larder in the poorest surroundings it may meet. No Node, no shell, no PATH, no environment; a
// root file system that cannot be written; nothing that can be written can be run. It needs no network.
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { jail, jailed, type Jail, type Place } from './jail.ts';

const root = join(import.meta.dirname, '..');
const executable = join(root, 'dist/larder');
const nativeModule = join(root, 'node_modules/better-sqlite3/prebuilds', `linux-${process.arch}.node`);

if (!existsSync(executable)) {
  console.error('larder: there is no dist/larder; npm run build:executable makes it');
  process.exit(1);
}
const base = mkdtempSync(join(root, 'dist/smoke-'));
t.teardown(() => rmSync(base, { recursive: true, force: true }));
t.setTimeout(1_500_000);

let places = 0;
function settle(place: Place = {}): Jail {
  const directory = join(base, String((places += 1)));
  mkdirSync(directory);
  return jail(directory, executable, place);
}
const needsJail = jailed ? {} : { skip: 'only root can build such a place' };

t.test('it runs with nothing around it but the C library', async (t) => {
  t.match(await outcome(settle().larder('version')), { code: 0, stdout: /^larder \d+\.\d+\.\d+/, stderr: '' });
});

t.test('it serves on a host that runs no writable files, with the installed copy of the module', needsJail, (t) =>
  serves(t, settle({ proc: true, installed: nativeModule })),
);

t.test('without that copy it states the remedy there', needsJail, async (t) => {
  const place = settle({ proc: true });
  t.match(await outcome(place.larder('init', '--data', place.data)), {
    code: 1,
    stderr: /^larder: .*LARDER_NATIVE_DIR.*failed to map segment from shared object/,
  });
});

t.test('a copy that is not the same is not loaded', needsJail, async (t) => {
  const other = join(base, 'other.node');
  copyFileSync(nativeModule, other);
  appendFileSync(other, 'altered');
  const place = settle({ proc: true, installed: other });
  t.match(await outcome(place.larder('init', '--data', place.data)), { code: 1, stderr: /belongs to another version/ });
});

for (const name of ['LARDER_NATIVE_DIR', 'CACHE_DIRECTORY']) {
  t.test(`with ${name} it serves, and leaves nothing there`, needsJail, async (t) => {
    const place = settle({ proc: true, exec: ['/cache'], environment: { [name]: '/cache' } });
    await serves(t, place);
    t.same(readdirSync(join(place.directory, 'cache')), []);
  });
}

t.test('without /proc it serves from a private directory', needsJail, async (t) => {
  const place = settle({ exec: ['/tmp'] });
  await serves(t, place);
  t.match(readdirSync(join(place.directory, 'tmp/larder-native-65534')), [/^[0-9a-f]{64}\.node$/]);
});

t.test('two workers serve, and a killed worker is replaced', async (t) => {
  const place = settle({ proc: true, exec: ['/tmp'] });
  const listen = await initialised(t, place);
  wantWorkers(place);
  const server = place.larder('serve', '--data', place.data);
  const ended = outcome(server);
  const serving = async (): Promise<{ serving: number; each: { pid: number }[] } | undefined> => {
    const answer = await fetch(`http://${listen}/readyz`).catch(() => undefined);
    const { workers } = ((await answer?.json()) ?? {}) as { workers?: { serving: number } };
    if (workers?.serving !== 2) return undefined;
    const file = join(place.directory, 'data/serving.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { workers: { serving: number; each: { pid: number }[] } })
      .workers;
  };
  const both = async (but?: number): Promise<number> => {
    for (let tries = 0; tries < 300; tries += 1) {
      const pid = (await serving())?.each[1]?.pid;
      if (pid !== undefined && pid !== but) return pid;
      await sleep(100);
    }
    throw new Error('two workers do not serve');
  };
  const killed = await both();
  process.kill(killed, 'SIGKILL');
  t.not(await both(killed), killed, 'another one serves in its place');
  server.kill('SIGTERM');
  t.match(await ended, { code: 0 });
});

t.test('without /proc several workers are refused', needsJail, async (t) => {
  const place = settle({ exec: ['/tmp'] });
  await initialised(t, place);
  wantWorkers(place);
  t.match(await outcome(place.larder('serve', '--data', place.data)), {
    code: 1,
    stderr: /^larder: http\.workers is more than 1/,
  });
});

t.test('the environment cannot put code into it', async (t) => {
  const place = settle({ environment: { NODE_OPTIONS: '--require=/none.js', NODE_EXTRA_CA_CERTS: '/none' } });
  t.match(await outcome(place.larder('version')), { code: 0, stdout: /^larder/ });
});

t.test('with an empty environment it serves anywhere else', (t) => serves(t, settle({ proc: true, exec: ['/tmp'] })));

// A release is tried with all journeys, a change with one of each kind: the sources run all of them.
const isRelease = process.env['LARDER_SMOKE'] !== 'change';
const ofChange = /^(?:carry-in\.long|every-type|publish-a-snap|publish-an-image|work-together)\.test\.ts$/;
const journeys = join(root, 'test/journeys');
for (const journey of existsSync(journeys) ? readdirSync(journeys) : []) {
  if (!journey.endsWith('.test.ts') || !(isRelease || ofChange.test(journey))) continue;
  // By default a file times out after 30 seconds, which is too short for some of them on a busy machine.
  const env = { ...process.env, LARDER_EXECUTABLE: executable, TAP_TIMEOUT: '300' };
  void t.spawn(process.execPath, [join(journeys, journey)], { env }, `the journey ${journey} with the executable`);
}

/** Makes a store there, and returns its address: a port below the range of clients (ip_local_port_range), and above 10080, which `fetch` refuses. */
async function initialised(t: Test, { data, larder }: Jail): Promise<string> {
  const listen = `127.0.0.1:${String(randomInt(10_100, 32_768))}`;
  const made = await outcome(larder('init', '--data', data, '--listen', listen, '--base-url', `http://${listen}`));
  t.match(made, { code: 0 }, 'it makes a store');
  return listen;
}

/** Has two workers serve from the next start on. */
function wantWorkers({ directory }: Jail): void {
  const file = join(directory, 'data/larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^.*workers = .*$/m, 'workers = 2'));
}

/** Makes a store there, serves it until it is ready and stops it, and serves what the first time has left. */
async function serves(t: Test, place: Jail): Promise<void> {
  const { data, larder } = place;
  const listen = await initialised(t, place);
  for (const time of ['first', 'second']) {
    const server = larder('serve', '--data', data);
    const ended = outcome(server);
    t.ok(await ready(`http://${listen}/readyz`, server), `it is ready the ${time} time`);
    const page = await (await fetch(`http://${listen}/console/log-in`)).text();
    t.match(page, /<title>[^<]* \u2013 [^<]*<\/title>/, 'the title of a page is as it was written');
    const guide = await (await fetch(`http://${listen}/docs/administrator`)).text();
    t.match(guide, '<h2 id="back-up">Back up</h2>', 'the guides are in it');
    server.kill('SIGTERM');
    t.match(await ended, { code: 0 }, `it stops cleanly the ${time} time`);
  }
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function outcome(child: ChildProcess): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

async function ready(url: string, server: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 300 && server.exitCode === null && server.signalCode === null; tries += 1) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return true;
    await sleep(100);
  }
  return false;
}
