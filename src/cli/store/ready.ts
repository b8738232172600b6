// larder ready
import { days } from '#domain/clock.ts';
import { saidState, type ServingState } from '#data/serving-state.ts';
import { createWaiting } from '#shared/waiting.ts';
import { command, Failure } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { becomeOwner } from '../frame/owner.ts';

/** What a script is told of a store that is not served yet. */
const notYet = 7;

export const ready = command({
  name: 'ready',
  summary: 'Wait until the store is served.',
  description:
    'Ends with 0 as soon as the store of the data directory is served, by all of its workers; with 7 when --timeout is over ' +
    'before. With --process it ends with 1 when that process has ended instead. The systemd unit has it wait, so that ' +
    "'systemctl start larder' returns when the store is served. Whether a store that is served can do its work is said by " +
    "GET /readyz and 'larder doctor'.",
  options: {
    process: {
      type: 'integer',
      value: 'PID',
      minimum: 1,
      maximum: 2 ** 31 - 1,
      summary: 'The process that is to serve it; otherwise any.',
    },
    timeout: { type: 'string', value: 'DURATION', summary: 'Wait so long at most, such as 30s; otherwise to the end.' },
  },
  examples: ['larder ready --timeout 1s', 'larder ready'],

  async run({ options: { process: wanted, timeout }, data }) {
    becomeOwner(data);
    const patience = timeout === undefined ? Infinity : readDuration(timeout, '--timeout', days(1));
    const look = (): Promise<ServingState | undefined> => {
      const state = saidState(data);
      if (state !== undefined && serves(state) && (wanted === undefined || state.pid === wanted)) {
        return Promise.resolve(state);
      }
      if (wanted === undefined || isAlive(wanted)) return Promise.resolve(undefined);
      const ended = `process ${String(wanted)} has ended, and does not serve the store; its log says why`;
      return Promise.reject(new Failure(ended, { code: 'ended' }));
    };
    const state = await createWaiting(pause).until('ready', look, { patience });
    return state === undefined
      ? { text: 'The store is not served yet.', json: { ready: false }, exitCode: notYet }
      : { text: `The store is served since ${state.since}.`, json: { ready: true, since: state.since } };
  },
});

/** Milliseconds between two looks, each of which reads a small file. */
const pause = 100;

/** Whether the process that said so goes on, and serves by as many as are to. */
const serves = ({ pid, workers }: ServingState): boolean =>
  isAlive(pid) && (workers === undefined || workers.serving === workers.wanted);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of somebody else is there as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
