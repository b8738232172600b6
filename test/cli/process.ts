// larder as a process of its own, and stores in directories of their own.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initOptions, nameBlobs } from '#test/fixtures/records/engines.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { larder, type Outcome } from './world.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

interface Test {
  teardown(work: () => unknown): void;
}

/** A folder for one test. */
export function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'larder-cli-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The reason why root cannot run a command here as another user, or false: the value of tap's `skip`. */
export function withoutOthers(): string | false {
  if (process.getuid?.() !== 0) return 'only root can give files away';
  const { status } = spawnSync('/usr/bin/test', ['-r', main], {
    uid: 1234,
    gid: 1234,
  });
  return status === 0 ? false : "larder's sources lie where only root can read them";
}

export interface NewStore {
  data: string;
  /** Runs a command on this store, within the test's own process. */
  larder(line: string): Promise<Outcome>;
  /** The same with --json; returns its output, or its error. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  json(line: string): Promise<any>;
}

/** Commands on an existing store. */
export function commandsOn(data: string): NewStore {
  const store: NewStore = {
    data,
    larder: (line) => larder(line, { env: { LARDER_DATA: data } }),
    async json(line) {
      const { out, err } = await store.larder(`${line} --json`);
      return JSON.parse(out === '' ? err : out) as unknown;
    },
  };
  return store;
}

/** A store as init makes it, on the engine of the tests if `options` name none. */
export async function newStore(t: Test, options = ''): Promise<NewStore> {
  const store = commandsOn(join(folder(t), 'data'));
  const more = options.includes('--postgres') ? [] : await initOptions(store.data);
  const made = await store.larder(['init', options, ...more].join(' '));
  if (made.code !== 0) throw new Error(made.err);
  await nameBlobs(store.data);
  return store;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** The output on standard error. */
  err(): string;
  /** Resolves when the standard error has something that matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts larder as a process; it is killed at the end of the test. */
export function start(t: Test, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Running {
  // Without the options for child processes of the test runner: they would write as the new user.
  const child = spawn('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  t.teardown(() => kill(child));
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(output.err);
      if (match) return match;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended without it: ${output.err}`);
      await Promise.race([once(child.stderr, 'data'), ended]);
    }
  };
  return { child, ended, says, err: () => output.err };
}

export interface Serving extends Running {
  url: string;
}

/** Serves a store on a free port, until it is ready. */
export async function serve(t: Test, data: string, ...args: string[]): Promise<Serving> {
  const running = start(t, ['serve', '--data', data, '--listen', '127.0.0.1:0', ...args]);
  const [, url = ''] = await running.says(/"url":"([^"]+)"/);
  const { status } = await fetch(`${url}/readyz`);
  if (status !== 200) throw new Error(`it answers ${status}`);
  return { ...running, url };
}
