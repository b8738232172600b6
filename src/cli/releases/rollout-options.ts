// The options of 'release' and 'track set' that state the plan of a rollout.
import { parseBound, parseSteps } from '#domain/releases/rollout-text.ts';
import { readRolloutPlan, type RolloutPlan } from '#domain/releases/rollout.ts';
import { days, seconds } from '#domain/clock.ts';
import { UsageError } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';

export const rolloutOptions = {
  every: { type: 'string', value: 'DURATION', summary: 'How long a step lasts at least, such as 6h. Default: 1d.' },
  'max-failures': {
    type: 'string',
    value: 'BOUND',
    summary:
      'Pause if more than this percentage of the devices that tried the revision fail, once so many have tried. Default: 5% of 20.',
  },
  'silent-after': {
    type: 'string',
    value: 'DURATION',
    summary: 'A device that has not called for this long has failed. Default: 1d.',
  },
  notify: { type: 'string', value: 'USERNAME', summary: 'An account to notify of a pause.', repeated: true },
} as const;

interface StatedRolloutOptions {
  every: string | undefined;
  'max-failures': string | undefined;
  'silent-after': string | undefined;
  notify: readonly string[];
}

/** Reads the steps of an option. */
export function stepsIn(text: string, option: string): number[] {
  const steps = parseSteps(text);
  if (steps?.every((step) => step <= 100) === true) return steps;
  throw new UsageError(`${option} is a percentage, such as 10%, or a list such as '1%, 10%, 50%, 100%', not '${text}'`);
}

/** The plan that the options state; undefined without steps. `stepsOption` is the name of the option with the steps. */
export function planIn(
  steps: readonly number[] | undefined,
  stated: StatedRolloutOptions,
  stepsOption: string,
): RolloutPlan | undefined {
  if (steps === undefined) {
    if (hasPlanOptions(stated))
      throw new UsageError(`--every, --max-failures, --silent-after and --notify need ${stepsOption}`);
    return undefined;
  }
  const bound = stated['max-failures'] === undefined ? undefined : parseBound(stated['max-failures']);
  if (stated['max-failures'] !== undefined && bound === undefined)
    throw new UsageError(`--max-failures is a bound such as '5%' or '5% of 20', not '${stated['max-failures']}'`);
  return readRolloutPlan({
    steps,
    intervalSeconds: parseSeconds(stated.every, '--every'),
    bound,
    silentSeconds: parseSeconds(stated['silent-after'], '--silent-after'),
    notify: stated.notify,
  });
}

export const hasPlanOptions = ({ notify, every, ...stated }: StatedRolloutOptions): boolean =>
  notify.length > 0 || (every ?? stated['max-failures'] ?? stated['silent-after']) !== undefined;

const parseSeconds = (text: string | undefined, option: string): number | undefined =>
  text === undefined ? undefined : readDuration(text, option, days(30)) / seconds(1);
