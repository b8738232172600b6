// Examines the serving process: its state, and whether a crash would leave a core dump.
import { describeWorkers } from '#data/serving-state.ts';
import { leavesMemory } from '#platform/core-dumps.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { ExaminationUnavailableError, findingOfFaults, notice, well, wrong, type Examination } from './examination.ts';

const unserved = 'the store is not being served at the moment';

export const server: Examination = {
  subject: 'Server',
  onHostAlone: true,
  async look({ serving, service, data }) {
    const state = await serving();
    if (state === undefined) return findingOfFaults([service?.() ?? describeFault('not-served', { data })], '');
    const workers = state.workers === undefined ? '' : ` with ${describeWorkers(state.workers)}`;
    return well(`served since ${state.since} by process ${String(state.pid)}${workers}`);
  },
};

export const jobs: Examination = {
  subject: 'Jobs',
  async look({ serving }) {
    const state = await serving();
    if (state === undefined) throw new ExaminationUnavailableError(unserved);
    return findingOfFaults(jobFaults(state.jobs), `all ${String(state.jobs.length)} jobs go well`);
  },
};

/** The fault for jobs after a failed last run. */
export function jobFaults(all: readonly { name: string; problem: string | undefined }[]): Fault[] {
  const failing = all.flatMap(({ name, problem }) => (problem === undefined ? [] : [{ name, problem }]));
  return failing.length === 0 ? [] : [describeFault('jobs-fail', { jobs: failing })];
}

export const scrub: Examination = {
  subject: 'Scrub',
  async look({ serving, config }) {
    if (config().integrity.scrub_rate === 0) {
      return notice(
        'integrity.scrub_rate is 0, so the blobs are not read again by themselves',
        "Run 'larder verify' from time to time.",
      );
    }
    const state = await serving();
    if (state === undefined) throw new ExaminationUnavailableError(unserved);
    return well(
      `${formatBytes(state.scrub.bytes)} read again since the start; ` +
        (state.scrub.roundEnded === undefined
          ? 'no round has ended yet'
          : `the last round ended at ${state.scrub.roundEnded.slice(0, 16).replace('T', ' ')} UTC`),
    );
  },
};

export const coreDumps: Examination = {
  subject: 'Core dumps',
  async look({ serving }) {
    switch (leavesMemory((await serving())?.pid ?? 'self')) {
      case false:
        return well('a crash leaves nothing of the memory in a file');
      case true:
        return wrong(
          'a crash would leave the memory of the server in a file, and keys with it',
          "Start it with core dumps off: LimitCORE=0 in its unit, or 'ulimit -c 0' before it.",
        );
      default:
        throw new ExaminationUnavailableError('this system does not say whether a crash leaves memory in a file');
    }
  },
};
