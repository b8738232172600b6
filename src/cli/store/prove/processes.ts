// Starts servers of this program as processes of their own, and the system programs that inject faults.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { programAgain } from '#platform/embedded.ts';
import type { World } from '../../frame/command.ts';
import { isReady } from './client.ts';

export interface TrialServer {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start of the process until /readyz reported that the store is ready. */
  readonly readyMs: number;
  /** False from the moment of `kill` or `stop`, and after the process has ended by itself. */
  isRunning(): boolean;
  /** How the process has ended, with the end of its log. */
  describeEnd(): string;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface TrialServers {
  start(data: string): Promise<TrialServer>;
  /** Kills every server that still runs. */
  killAll(): Promise<void>;
}

/** Variables that a server needs; it must not get those of a service manager or of another store. */
const passedVariables = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'NODE_COMPILE_CACHE',
];
const readyTimeoutMs = 120_000;
const maxLogLength = 64 * 1024;

/** `started` gets the number of each process. */
export function createTrialServers({ env }: Pick<World, 'env'>, started: (pid: number) => void): TrialServers {
  const running = new Set<ChildProcess>();
  const passed = Object.fromEntries(
    passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );

  async function start(data: string): Promise<TrialServer> {
    const { exec, args, execArgv } = programAgain([
      'serve',
      '--data',
      data,
      '--listen',
      '127.0.0.1:0',
      '--log-format',
      'json',
    ]);
    const began = performance.now();
    const child = spawn(process.execPath, [...execArgv, exec, ...args], {
      env: passed,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.add(child);
    if (child.pid !== undefined) started(child.pid);
    child.once('exit', () => running.delete(child));
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-maxLogLength)));
    const url = await waitUntilReady(child, () => log);
    return {
      url,
      pid: child.pid!,
      readyMs: Math.round(performance.now() - began),
      isRunning: () => hasNotEnded(child) && !child.killed,
      describeEnd: () =>
        `exit code ${String(child.exitCode)}, signal ${String(child.signalCode)}: ` +
        log
          .split('\n')
          .slice(-4)
          .map((line) => line.slice(0, 300))
          .join(' '),
      kill: () => end(child, 'SIGKILL'),
      stop: () => end(child, 'SIGTERM'),
    };
  }
  return {
    start,
    killAll: async () => {
      await Promise.all([...running].map((child) => end(child, 'SIGKILL')));
    },
  };
}

const hasNotEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!hasNotEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function waitUntilReady(child: ChildProcess, log: () => string): Promise<string> {
  const deadline = performance.now() + readyTimeoutMs;
  while (hasNotEnded(child) && performance.now() < deadline) {
    const url = /"url":"([^"]+)"/.exec(log())?.[1];
    if (url !== undefined && (await isReady(url))) return url;
    await sleep(5);
  }
  await end(child, 'SIGKILL');
  throw new Error(`the store of the trial did not become ready: ${log().slice(-500)}`);
}

/** Runs a program of the system; returns the reason if it cannot be run or fails. */
export function runProgram(program: string, args: readonly string[]): string | undefined {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error !== undefined) return `the program ${program} cannot be run`;
  return status === 0 ? undefined : stderr.trim().split('\n')[0]!;
}

const prlimit = '/usr/bin/prlimit';

/** Why limits of a running process cannot be changed here; undefined if they can. */
export const whyNoLimits = (): string | undefined =>
  existsSync(prlimit) ? undefined : `this system has no ${prlimit} (package util-linux)`;

/** Lowers or raises the soft limit of a running process. */
export function setLimit(pid: number, limit: 'fsize' | 'nofile', value: string): void {
  const reason = runProgram(prlimit, ['--pid', String(pid), `--${limit}=${value}:`]);
  if (reason !== undefined) throw new Error(`cannot set the limit '${limit}' of process ${String(pid)}: ${reason}`);
}

/** The soft limit of open files of a process, and the number that it has open. */
export function countOpenFiles(pid: number): { limit: string; open: number } {
  const limits = readFileSync(`/proc/${String(pid)}/limits`, 'latin1');
  return {
    limit: /^Max open files +(\S+)/m.exec(limits)?.[1] ?? 'unlimited',
    open: readdirSync(`/proc/${String(pid)}/fd`).length,
  };
}
