// The process that serves the store: what it says of itself, and what it would leave behind.
import { workersSay } from '#data/serving-state.ts';
import { leavesMemory } from '#src/core-dumps.ts';
import { bytes } from '#domain/byte-size.ts';
import { CannotLook, notice, well, wrong, type Examination } from './examination.ts';

const unserved = 'the store is not being served at the moment';

export const server: Examination = {
  what: 'Server',
  onHostAlone: true,
  look({ serving }) {
    const state = serving();
    if (state === undefined) return well(unserved);
    const [first, ...others] = state.problems;
    if (first !== undefined) return wrong(['the server says:', first, ...others].join(' '));
    const [told, ...more] = state.notices ?? [];
    if (told !== undefined) return notice(['the server says:', told, ...more].join(' '));
    const workers = state.workers === undefined ? '' : ` with ${workersSay(state.workers)}`;
    return well(`served since ${state.since} by process ${String(state.pid)}${workers}`);
  },
};

export const jobs: Examination = {
  what: 'Jobs',
  look({ serving }) {
    const state = serving();
    if (state === undefined) throw new CannotLook(unserved);
    const failing = state.jobs.filter(({ problem }) => problem !== undefined);
    return failing.length === 0
      ? well(`all ${String(state.jobs.length)} jobs go well`)
      : wrong(
          `these jobs fail: ${failing.map(({ name, problem }) => `${name} (${problem!})`).join(', ')}`,
          'The log of the server says more.',
        );
  },
};

export const scrub: Examination = {
  what: 'Scrub',
  look({ serving, config }) {
    if (config().integrity.scrub_rate === 0) {
      return notice(
        'integrity.scrub_rate is 0, so the blobs are not read again by themselves',
        "Run 'larder verify' from time to time.",
      );
    }
    const state = serving();
    if (state === undefined) throw new CannotLook(unserved);
    return well(
      `${bytes(state.scrub.bytes)} read again since the start; ` +
        (state.scrub.roundEnded === undefined
          ? 'no round has ended yet'
          : `the last round ended at ${state.scrub.roundEnded}`),
    );
  },
};

export const coreDumps: Examination = {
  what: 'Core dumps',
  look({ serving }) {
    switch (leavesMemory(serving()?.pid ?? 'self')) {
      case false:
        return well('a crash leaves nothing of the memory in a file');
      case true:
        return wrong(
          'a crash would leave the memory of the server in a file, and keys with it',
          "Start it with core dumps off: LimitCORE=0 in its unit, or 'ulimit -c 0' before it.",
        );
      default:
        throw new CannotLook('this system does not say whether a crash leaves memory in a file');
    }
  },
};
