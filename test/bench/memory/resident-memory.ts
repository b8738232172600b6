// Resident memory of the serving processes: idle with an empty store and with 100,000 revisions, and while large uploads and many downloads
// run. Peak memory and processor time of everyday commands.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '#test/fixtures/free-port.ts';
import { fetchAll, filled } from '../downloads.ts';
import { grow } from '../harness/grow.ts';
import { busyness, peakMemory, residentMemory, stopServer } from '../harness/measure.ts';
import { fillStore } from '../harness/store.ts';
import { send } from '../uploads.ts';

const root = join(import.meta.dirname, '../../..');
const idleMs = 60_000;
/** As packaging/debian/larder.service sets it. With '2' malloc has 1 MiB more of an idle empty store, 3 to 6 with 100,000 revisions. */
const unitEnvironment = { MALLOC_ARENA_MAX: '1' };
const everyday = ['status', 'account list', 'doctor', 'verify', 'config get http.listen'];
const [uploadCount, uploadBytes, downloadCount] = [4, 1024 ** 3, 100];

/** Prints MiB of all processes of a store, of the executable if it was built. */
export async function memory(): Promise<void> {
  const executable = join(root, 'dist/larder');
  const isBuilt = existsSync(executable);
  const program = isBuilt ? executable : join(root, 'bin/larder');
  console.log(`resident memory, ${isBuilt ? 'the executable' : 'from the sources'}; ${busyness()}`);
  forgetPages(program);
  for (const command of ['help', 'version']) console.log(rowOf(`larder ${command}`, costOf(program, [command])));
  for (const packages of [0, 10_000]) {
    const { directory, store } = await fillStore(0, 0);
    await store.close();
    if (packages > 0) await grow(directory, packages);
    await measureIdle(program, directory, packages * 10);
    rmSync(directory, { recursive: true, force: true });
  }
  await measureLoad(program);
}

/** The first start is not measured: it upgrades the filled data. */
async function measureIdle(program: string, directory: string, revisions: number): Promise<void> {
  await stop((await serve(program, directory)).child);
  for (const command of revisions === 0 ? everyday : ['status']) {
    const cost = costOf(program, [...command.split(' '), '--data', directory]);
    console.log(rowOf(`larder ${command}, ${String(revisions)} revisions`, cost));
  }
  const { child } = await serve(program, directory);
  await sleep(idleMs);
  const resident = sumOf(child, residentMemory);
  console.log(rowOf(`idle for 60 s, ${String(revisions)} revisions`, `${resident}, peak ${sumOf(child, peakMemory)}`));
  await stop(child);
}

async function measureLoad(program: string): Promise<void> {
  const { directory, child: former, path, headers } = await filled();
  await stopServer(former);
  const { child, port } = await serve(program, directory);
  const source = { port, path, headers, isTls: false };
  const uploads = Array.from({ length: uploadCount }, (_, at) => send(port, uploadBytes, at + 1));
  const downloads = Array.from({ length: downloadCount }, () => fetchAll(source));
  await Promise.all([...uploads, ...downloads]);
  const peak = sumOf(child, peakMemory);
  console.log(rowOf(`${String(uploadCount)} uploads of 1 GiB, ${String(downloadCount)} downloads`, `peak ${peak}`));
  await stop(child);
  rmSync(directory, { recursive: true, force: true });
}

async function serve(program: string, directory: string): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort();
  const child = spawn(program, ['serve', '--data', directory, '--listen', `127.0.0.1:${String(port)}`], {
    stdio: 'ignore',
    env: { ...process.env, ...unitEnvironment },
  });
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`cannot measure: ${program} ended with ${String(child.exitCode)}`);
    await sleep(100);
  }
  return { child, port };
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${String(port)}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** The memory of a process and of its workers. */
function sumOf({ pid }: ChildProcess, measureMemory: (pid: number | undefined) => number): string {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1');
  const workers = [...children.matchAll(/\d+/g)].map(([worker]) => Number(worker));
  const sum = workers.reduce((total, worker) => total + measureMemory(worker), measureMemory(pid));
  return `${sum.toFixed(0)} MiB`;
}

/** Peak memory and processor time of a command that ends: `time` of GNU reads them when the process is gone. */
function costOf(program: string, args: readonly string[]): string {
  const { stderr } = spawnSync('/usr/bin/env', ['time', '-f', 'cost %M %U %S', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const [, kibibytes, user, system] = /cost (\d+) ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  return kibibytes === undefined
    ? 'not measured (Debian: apt install time)'
    : `peak ${(Number(kibibytes) / 1024).toFixed(0)} MiB, ${(Number(user) + Number(system)).toFixed(2)} s of the processors`;
}

/**
 * Has the system read the executable again page by page, as after a boot. The pages of a file that was just written are in larger units,
 * and a process maps each as a whole: 20 MiB more in every row.
 */
function forgetPages(program: string): void {
  spawnSync('sync', [program]);
  spawnSync('dd', [`if=${program}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
}

const rowOf = (subject: string, figure: string): string => `  ${subject.padEnd(44)} ${figure}`;
