// Finds out why a store is not served: from systemd, the last failed start, and the state that an ended process left behind.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { readStateFile } from '#data/serving-state.ts';
import { readStartFailure } from '#data/start-failure.ts';
import { seconds } from '#domain/clock.ts';
import { openingFault } from '#examinations/opening-fault.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { isServiceDirectory } from '../frame/owner.ts';

const unit = 'larder.service';
const maxAnswerMs = seconds(3);
const maxAnswerBytes = 16 * 1024 * 1024;

/** The state of the systemd unit that serves a data directory. */
export interface UnitState {
  active: string;
  sub: string;
  result: string;
  /** The last line that the service logged. */
  lastLine: string | undefined;
}

/**
 * Asks systemd about the unit that serves `data`; undefined if there is none, or if it is running. Call it before root's rights
 * are dropped: the user of the service cannot read the journal.
 */
export function readUnitState(data: string): UnitState | undefined {
  if (!isServiceDirectory(data) || !existsSync('/run/systemd/system')) return undefined;
  const shown = outputOf('/usr/bin/systemctl', ['show', unit, '--property=ActiveState,SubState,Result']);
  if (shown === undefined) return undefined;
  const of = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(shown)?.[1] ?? 'unknown';
  const [active, sub, result] = [of('ActiveState'), of('SubState'), of('Result')];
  if (active === 'active' || active === 'reloading') return undefined;
  const line = outputOf('/usr/bin/journalctl', ['--unit', unit, '--lines', '1', '--output', 'cat', '--no-pager']);
  return { active, sub, result, lastLine: line === undefined ? undefined : messageIn(line) };
}

/** Why the store in `data` is not served; undefined if no process is expected to serve it. */
export function explainNotServed(data: string, state: UnitState | undefined): Fault | undefined {
  const failure = readStartFailure(data);
  if (state !== undefined) {
    const { active, sub, result } = state;
    const how = `${active}, ${sub}${result === 'success' ? '' : `, result ${result}`}`;
    // The last line of a stopped service already gives the reason; the recorded failure is from an earlier start.
    const failed = active === 'inactive' ? undefined : failure;
    const lastLine = failed?.because ?? state.lastLine;
    return describeFault('service-down', { unit: 'larder', state: how, lastLine, remedy: failed?.remedy });
  }
  if (failure !== undefined) return describeFault('start-failed', { ...failure, data });
  const left = readStateFile(data);
  return left && describeFault('ended-unexpectedly', { pid: left.pid, data });
}

/** All faults of a store that cannot be opened or is not served: those of the host, and the error of opening it. */
export function listStartFaults(data: string, state: UnitState | undefined, error?: unknown): Fault[] {
  const opening = error === undefined ? undefined : openingFault(error, data);
  return [explainNotServed(data, state), opening].filter((fault) => fault !== undefined);
}

/** The last lines of the service's journal; undefined if the service does not serve this store, or the journal is unreadable. */
export function readJournal(data: string, lines: number): string | undefined {
  if (!isServiceDirectory(data)) return undefined;
  return outputOf('/usr/bin/journalctl', ['--unit', unit, '--lines', String(lines), '--output', 'cat', '--no-pager']);
}

function outputOf(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: maxAnswerMs,
    maxBuffer: maxAnswerBytes,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}

/** The message in a line of the log, which is JSON under systemd. */
function messageIn(line: string): string {
  try {
    const { msg, problem } = JSON.parse(line) as { msg?: string; problem?: string };
    return [msg, problem].filter((text) => text !== undefined).join(': ') || line;
  } catch {
    return line.replace(/^larder: /, '').replace(/\.$/, '');
  }
}
