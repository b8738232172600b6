// Runs test files in a process of their own (files.ts), and splits the output by file.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { root, type Lane } from './lanes.ts';
import { beginMark, endMark } from './marks.ts';
import { readTap, type TapResult } from './tap.ts';

export interface FileResult extends TapResult {
  readonly file: string;
  /** Seconds of processor time, including those of ended child processes. */
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  /** The output of the file, as TAP. */
  readonly text: string;
}

const isLarge = process.env['LARDER_LONG'] === '1';
/**
 * A file that runs longer counts as hanging. The limits are below those of the steps of .ci/run, so that the report
 * names the test; the large forms take as long as they need.
 */
const maxMinutes: Record<Lane, number> = {
  tests: 10,
  tools: 15,
  servers: isLarge ? 60 : 20,
  long: process.env['LARDER_LONG'] === '0' ? 20 : 60,
};

let processCount = 0;

/** Runs files one after the other in one process. If that ends early, the remaining files get another one. */
export async function runGroup(files: readonly string[], lane: Lane, report: (result: FileResult) => void) {
  for (let left = files; left.length > 0;) left = left.slice(await runProcess(left, lane, report));
}

/** Resolves to the number of files that were reported, at least one. */
async function runProcess(files: readonly string[], lane: Lane, report: (result: FileResult) => void): Promise<number> {
  const minutes = maxMinutes[lane];
  // tap names the folders of tests after the arguments: each process has a name of its own, also beside another run.
  processCount += 1;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'files.ts'), `${process.pid}-${processCount}`], {
    cwd: root,
    env: {
      ...process.env,
      LARDER_TEST_FILES: files.join('\n'),
      // tap ends a process after 30 seconds by default.
      TAP_TIMEOUT: String(minutes * 60),
      ...(lane === 'long' && { LARDER_LONG: process.env['LARDER_LONG'] ?? '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let reported = 0;
  let anyFailed = false as boolean;
  let lines: string[] = [];
  let beganAt = Date.now();
  const finish = (file: string, cpuSeconds = 0, problem?: string): void => {
    if (problem !== undefined) lines.push(`not ok - ${problem}`);
    const text = lines.join('\n');
    lines = [];
    const result = readTap(text);
    const failed = problem === undefined ? result.failed : Math.max(1, result.failed);
    anyFailed ||= failed > 0;
    report({ file, cpuSeconds, wallSeconds: (Date.now() - beganAt) / 1000, text, ...result, failed });
    beganAt = Date.now();
  };
  const kill = (): void => {
    lines.push(`not ok - has not ended after ${minutes} minutes`);
    child.kill('SIGKILL');
  };
  let timer = setTimeout(kill, minutes * 60_000);
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith(beginMark)) lines = [];
    else if (line.startsWith(endMark)) {
      const [file = '', cpuSeconds] = line.slice(endMark.length).split('\t');
      finish(file, Number(cpuSeconds));
      reported += 1;
      clearTimeout(timer);
      timer = setTimeout(kill, minutes * 60_000);
    } else lines.push(line);
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  const lost = files[reported];
  if (lost !== undefined) {
    finish(lost, 0, `has ended its process early (${signal ?? `exit code ${String(code)}`})`);
    return reported + 1;
  }
  // Work of the files at the end of the process, such as teardowns: the exit code of tap shows a failure.
  if (code !== 0 && !anyFailed)
    finish(`the end of the process of ${files.join(' ')}`, 0, signal ?? `exit code ${String(code)}`);
  return reported;
}
