// Shows the progress of a long command on the standard error: a bar on a terminal, JSON lines for programs, nothing with
// `--quiet`.
import type { CommandCall } from './command.ts';
import { visible } from './terminal.ts';

export interface ProgressReporter {
  /** Reports the progress of a step; `total` is 0 if it is unknown. */
  at(step: string, done: number, total: number): void;
  /** Removes the bar, so that the next output starts on an empty line. */
  end(): void;
}

/** Milliseconds between two updates; faster ones only cost time. */
const interval = { bar: 100, lines: 1000 };
const width = 24;

export function createProgress({
  json,
  quiet,
  world,
}: Pick<CommandCall, 'json' | 'quiet' | 'world'>): ProgressReporter {
  const { stderr } = world;
  const bar = stderr.isTTY === true && !json;
  if (quiet || (!bar && !json)) return { at: () => undefined, end: () => undefined };
  let last = -Infinity;
  let step = '';
  return {
    at(name, done, total) {
      const now = performance.now();
      const isNew = name !== step;
      if (!isNew && done !== total && now - last < (bar ? interval.bar : interval.lines)) return;
      [last, step] = [now, name];
      if (!bar) stderr.write(`${JSON.stringify({ progress: name, done, total })}\n`);
      else stderr.write(`\r\u001b[K${drawn(visible(name), done, total).slice(0, (stderr.columns ?? 80) - 1)}`);
    },
    end() {
      if (bar && step !== '') stderr.write('\r\u001b[K');
      step = '';
    },
  };
}

function drawn(name: string, done: number, total: number): string {
  if (total === 0) return `${name}: ${String(done)}`;
  const share = Math.min(1, done / total);
  const full = Math.round(share * width);
  return `${name} [${'#'.repeat(full)}${' '.repeat(width - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}
