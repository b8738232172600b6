// A serving process that cannot continue ends with a sentence, so that systemd starts it again.
import { once } from 'node:events';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { newStore } from '#test/cli/process.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { until } from '#test/fixtures/until.ts';

t.setTimeout(600_000);

const main = join(import.meta.dirname, '../../src/main.ts');

interface Test {
  teardown(work: () => unknown): void;
}

/** Serves a store by a process that runs `script` on SIGUSR2, in each of its workers too; `err()` is its log. */
async function serveWith(t: Test, data: string, script: string) {
  const hook = `data:text/javascript,process.on('SIGUSR2', async () => { ${encodeURIComponent(script)} })`;
  const args = ['--import', hook, main, 'serve', '--data', data, '--listen', '127.0.0.1:0'];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.teardown(() => kill(child));
  let errorOutput = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errorOutput += text));
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  await until(() => /"url":"[^"]+"/.test(errorOutput));
  return { child, ended, err: () => errorOutput, url: /"url":"([^"]+)"/.exec(errorOutput)![1]! };
}

const isBlocked =
  /"msg":"the event loop was blocked for too long, so this process ends; start it again, as systemd does"/;

t.test('a process whose event loop is blocked for 30 seconds ends', async (t) => {
  const { data } = await newStore(t);
  const { child, ended, err } = await serveWith(t, data, 'for (;;);');
  child.kill('SIGUSR2');
  t.same(await ended, [null, 'SIGKILL']);
  t.match(err(), isBlocked);
});

t.test('a blocked worker is replaced, and the others serve', async (t) => {
  const { data } = await newStore(t);
  changeConfig(join(data, 'larder.toml'), { 'http.workers': 2 });
  const { err, url } = await serveWith(t, data, 'for (;;);');
  const pids = (): Map<number, number> => {
    const file = join(data, 'serving.json');
    const state = (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}) as {
      workers?: { each: { number: number; pid: number }[] };
    };
    return new Map(state.workers?.each.map(({ number, pid }) => [number, pid]));
  };
  await until(() => pids().size === 2);
  const blocked = pids().get(2)!;
  process.kill(blocked, 'SIGUSR2');
  await until(() => (pids().get(2) ?? blocked) !== blocked);
  t.match(err(), isBlocked);
  t.match(err(), /"worker":2,[^\n]*"blockedSeconds":30/);
  t.equal((await fetch(`${url}/readyz`)).status, 200);
});

const closeIndex = `
  const { closeSync, readdirSync, readlinkSync } = await import('node:fs');
  for (const fd of readdirSync('/proc/self/fd')) {
    try { if (readlinkSync('/proc/self/fd/' + fd).endsWith('larder.db-shm')) closeSync(Number(fd)); } catch {}
  }`;

t.test('a process that has lost its locks on the index of the database ends', async (t) => {
  const { data } = await newStore(t);
  const { child, ended, err } = await serveWith(t, data, closeIndex);
  child.kill('SIGUSR2');
  t.same(await ended, [1, null]);
  t.match(err(), /^larder: the locks on \S+larder\.db, or the index of its log, are lost; serve the store again$/m);
});

const prlimit = '/usr/bin/prlimit';

t.test(
  'a process that may open no more files ends after a minute',
  { skip: existsSync(prlimit) ? false : 'not installed: util-linux' },
  async (t) => {
    const { data } = await newStore(t);
    const { child, ended, err } = await serveWith(t, data, '');
    execFileSync(prlimit, ['--pid', String(child.pid), '--nofile=8:8']);
    t.same(await ended, [1, null]);
    t.match(err(), /^larder: no file could be opened for a minute: this process has too many files open; /m);
  },
);
