// larder ready
import { join } from 'node:path';

import { days } from '#domain/clock.ts';
import { readStartFailure } from '#data/start-failure.ts';
import { isHeld, readStateFile, type ServingState } from '#data/serving-state.ts';
import { createChangeWaiter } from '#shared/change-waiter.ts';
import { readConfig } from '#configuration/config.ts';
import { textOf, type Fault } from '#platform/faults.ts';
import { command, Failure } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { becomeOwner } from '../frame/owner.ts';
import { listStartFaults, readUnitState, type UnitState } from './service.ts';

/** The exit code for a store that is not served yet. */
const notYet = 7;

export const ready = command({
  name: 'ready',
  summary: 'Wait until the store is served.',
  description:
    'Exits with 0 as soon as all workers serve the store, and with 7 if that takes longer than --timeout. With ' +
    "--process it exits with 1 if that process has ended. The systemd unit uses it, so that 'systemctl start " +
    "larder' returns when the store is served. To check whether a served store works, use GET /readyz or 'larder " +
    "doctor'.",
  options: {
    process: {
      type: 'integer',
      value: 'PID',
      minimum: 1,
      maximum: 2 ** 31 - 1,
      summary: 'The process that is expected to serve it. Default: any.',
    },
    timeout: {
      type: 'string',
      value: 'DURATION',
      summary: 'The longest time to wait, such as 30s. Default: no limit.',
    },
  },
  examples: ['larder ready --timeout 1s', 'larder ready'],

  async run({ options: { process: pid, timeout }, data }) {
    // Root may read the journal; the owner of the store may not. Not with --process: the unit itself uses that.
    const before = pid === undefined ? readUnitState(data) : undefined;
    becomeOwner(data);
    const timeoutMs = timeout === undefined ? Infinity : readDuration(timeout, '--timeout', days(1));
    const look = (): Promise<ServingState | undefined> => {
      const state = readStateFile(data);
      if (state !== undefined && serves(state) && (pid === undefined || state.pid === pid)) {
        return Promise.resolve(state);
      }
      if (pid === undefined || isAlive(pid)) return Promise.resolve(undefined);
      return Promise.reject(endedError(pid, data));
    };
    const state = await createChangeWaiter(pause).until('ready', look, { timeoutMs });
    if (state !== undefined)
      return { text: `The store is served since ${state.since}.`, json: { ready: true, since: state.since } };
    const unit = pid === undefined ? readUnitState(data) : undefined;
    const faults = whyNotReady(data, unit && { ...unit, lastLine: unit.lastLine ?? before?.lastLine });
    return {
      text: ['The store is not served yet.', ...faults.map(textOf)].join('\n'),
      json: { ready: false, faults },
      exitCode: notYet,
    };
  },
});

function endedError(pid: number, data: string): Failure {
  const faults = whyNotReady(data, undefined);
  const reasons = faults.length === 0 ? ['Its log says why.'] : faults.map(textOf);
  return new Failure(`process ${String(pid)} has ended, and does not serve the store. ${reasons.join(' ')}`, {
    code: 'ended',
  });
}

/** The reasons that the host and the configuration give; does not open the store. */
function whyNotReady(data: string, unit: UnitState | undefined): Fault[] {
  try {
    // A process with the lock is starting, or serves with fewer workers than configured. Only an earlier start may have failed.
    if (isHeld(data) && readStartFailure(data) === undefined) return [];
  } catch {
    // The lock file cannot be opened, for example because of wrong file permissions. So no process serves the store.
  }
  return listStartFaults(data, unit, refusedConfiguration(data));
}

/** The error that makes the configuration unusable; undefined if it is valid. */
function refusedConfiguration(data: string): unknown {
  try {
    readConfig(join(data, 'larder.toml'));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Poll interval in milliseconds; each poll reads a small file. */
const pause = 100;

/** Whether the process of this state is alive and serves with all its workers. */
const serves = ({ pid, workers }: ServingState): boolean =>
  isAlive(pid) && (workers === undefined || workers.serving === workers.wanted);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user counts as alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
