// Automatic rollouts: a release that reaches more devices step by step, until it reaches all of them or too many fail.
import { days, hours, minutes, seconds } from '../clock.ts';
import { formatCount } from '../quantities.ts';
import { Refusal } from '../refusal.ts';

/** The plan of a rollout. Approvers approve its text, see `planText`. */
export interface RolloutPlan {
  /** Percentages of the devices, rising; the last one is 100. */
  steps: readonly number[];
  /** How long a step lasts at least. Only time while the store runs counts. */
  intervalSeconds: number;
  bound: FailureBound;
  /** A device is silent if it has not called for this long. */
  silentSeconds: number;
  /** The user names of the accounts to notify of a pause. */
  notify: readonly string[];
}

/** The rollout pauses if more than `percentage` of the devices that tried the revision are in trouble, and at least `devices` tried. */
export interface FailureBound {
  percentage: number;
  devices: number;
}

/** A plan as a caller states it. A single step is the percentage to add at each step. */
export interface RolloutPlanRequest {
  steps: readonly number[];
  intervalSeconds?: number | undefined;
  bound?: Partial<FailureBound> | undefined;
  silentSeconds?: number | undefined;
  notify?: readonly string[] | undefined;
}

const maxSteps = 1000;
const maxNotified = 20;
const inSeconds = (milliseconds: number): number => milliseconds / seconds(1);

/** Defaults of a plan. snapd asks for refreshes four times a day, so a device that has not called for a day is silent. */
const defaults = {
  intervalSeconds: inSeconds(days(1)),
  bound: { percentage: 5, devices: 20 },
  silentSeconds: inSeconds(days(1)),
};

/** A refresh counts as failed if the device gets the same offer again after this time. It counts as held instead if the device says so. */
export const refreshTimeoutMs = hours(1);

/** Completes a plan with the defaults; refuses a plan without sense. */
export function readRolloutPlan({ steps, notify = [], ...request }: RolloutPlanRequest): RolloutPlan {
  const { intervalSeconds = defaults.intervalSeconds, silentSeconds = defaults.silentSeconds } = request;
  const bound = { ...defaults.bound, ...request.bound };
  const plan = { steps: readSteps(steps), intervalSeconds, bound, silentSeconds, notify: [...new Set(notify)].sort() };
  const problem =
    boundProblem(bound) ??
    durationProblem('A step lasts', intervalSeconds, minutes(1)) ??
    durationProblem('A device is silent after', silentSeconds, 2 * refreshTimeoutMs) ??
    (plan.notify.length > maxNotified ? `Notify at most ${String(maxNotified)} accounts.` : undefined);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  return plan;
}

function readSteps(stated: readonly number[]): number[] {
  const [first = 0] = stated;
  const refuse = (problem: string): never => {
    throw new Refusal('api-error', problem);
  };
  const outside = stated.find((step) => !(step >= 0 && step <= 100));
  if (outside !== undefined) return refuse(`A step of ${String(outside)} % is not between 0 and 100 %.`);
  if (stated.length === 0 || stated.includes(0))
    return refuse('A step of 0 % reaches no device. Use steps above 0 %, such as 1, 10, 50, 100.');
  if (stated.length === 1 && first === 100)
    return refuse(
      'A single step of 100 % reaches all devices at once. Leave out the steps, or begin with a smaller one.',
    );
  const count = stated.length === 1 ? Math.ceil(rounded(100 / first)) : stated.length;
  if (count > maxSteps)
    return refuse(`These are ${String(count)} steps. Use at most ${String(maxSteps)} steps, so at least 0.1 % each.`);
  if (stated.length === 1) return Array.from({ length: count }, (_, at) => Math.min(100, rounded(first * (at + 1))));
  const falling = stated.find((step, at) => at > 0 && step <= (stated[at - 1] ?? 0));
  if (falling !== undefined)
    return refuse(`The steps must rise, but ${String(falling)} % follows a step that is as large.`);
  const last = stated.at(-1) ?? 0;
  if (last !== 100) return refuse(`The last step is ${String(last)} %. End the steps with 100 %.`);
  return [...stated];
}

/** To a thousandth, so that ten steps of 0.1 % are 1 %. */
const rounded = (percentage: number): number => Math.round(percentage * 1000) / 1000;

function boundProblem({ percentage, devices }: FailureBound): string | undefined {
  if (!(percentage >= 0)) return 'A bound of failures is at least 0 %.';
  if (percentage >= 100)
    return 'A bound of 100 % never pauses the rollout. Use a bound below 100 %; 0 % pauses at the first failure.';
  const isCount = Number.isInteger(devices) && devices >= 1 && devices <= 1_000_000;
  return isCount ? undefined : 'A bound of failures needs between 1 and 1,000,000 devices that tried the revision.';
}

const maxDuration = days(30);

function durationProblem(subject: string, durationSeconds: number, minimum: number): string | undefined {
  const duration = seconds(durationSeconds);
  const isAllowed = Number.isInteger(durationSeconds) && duration >= minimum && duration <= maxDuration;
  if (isAllowed) return undefined;
  return `${subject} between ${durationText(inSeconds(minimum))} and ${durationText(inSeconds(maxDuration))}, not ${String(durationSeconds)} s.`;
}

/** The plan of a track that only has a percentage; undefined if that is no rollout: 0 and 100 % release to all devices at once. */
export const planOfPercentage = (percentage: number | null): RolloutPlan | undefined =>
  percentage === null || percentage <= 0 || percentage >= 100
    ? undefined
    : readRolloutPlan({ steps: [Math.max(0.1, percentage)] });

/** A plan in words. The text has every member: a member missing here could change without approval. */
export function planText({ steps, intervalSeconds, bound, silentSeconds, notify }: RolloutPlan): string {
  const people = notify.length === 0 ? '' : `, notifies ${notify.join(' and ')}`;
  return (
    `${stepsText(steps)} every ${durationText(intervalSeconds)}, pauses if more than ${boundText(bound)} ` +
    `fail or are silent for ${durationText(silentSeconds)}${people}`
  );
}

/** The steps in words: `in steps of 10 %` or `in steps to 1, 10, 50 and 100 %`. */
export function stepsText(steps: readonly number[]): string {
  const [first = 0] = steps;
  const isEven = steps.every((step, at) => step === Math.min(100, rounded(first * (at + 1))));
  if (isEven) return `in steps of ${String(first)} %`;
  return `in steps to ${steps.slice(0, -1).join(', ')} and ${String(steps.at(-1))} %`;
}

export const boundText = ({ percentage, devices }: FailureBound): string =>
  `${String(percentage)} % of at least ${formatCount(devices, 'device')}`;

/** A duration in its largest whole unit: `90 s`, `30 min`, `1 h`, `2 d`. */
export function durationText(durationSeconds: number): string {
  const units = [
    [inSeconds(days(1)), 'd'],
    [inSeconds(hours(1)), 'h'],
    [inSeconds(minutes(1)), 'min'],
  ] as const;
  const [unit, name] = units.find(([length]) => durationSeconds >= length && durationSeconds % length === 0) ?? [
    1,
    's',
  ];
  return `${String(durationSeconds / unit)} ${name}`;
}

/** A rest of a step in hours and minutes, rounded up: `23 h 55 min`. */
function remainingText(restSeconds: number): string {
  const inMinutes = Math.ceil(restSeconds / 60);
  const parts = [
    [Math.floor(inMinutes / 60), 'h'],
    [inMinutes % 60, 'min'],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, unit]) => `${String(number)} ${unit}`)
    .join(' ');
}

/** The devices of a rollout by their results. Each serial counts once. */
export interface RolloutResults {
  /** Devices that took the revision, failed, came back with the older one, or fell silent after the offer. */
  tried: number;
  /** Of these, the devices that failed, came back or fell silent. */
  troubled: number;
  /** Devices with an offer that has no result yet. */
  open: number;
  /** Devices that got their offer in the present step and tried the revision. */
  triedInStep: number;
}

export interface RolloutVerdict {
  verdict: 'pause' | 'raise' | 'wait';
  because: string;
}

/**
 * Decides about the next step of a running rollout. It rises only if the bound would hold even if every open offer failed, because a success is
 * known sooner than a failure. A step that too few devices for the bound have tried
 * lasts `silentSeconds`: by then every device that still calls has called.
 */
export function judgeRollout(
  { bound, intervalSeconds, silentSeconds }: RolloutPlan,
  { tried, troubled, open, triedInStep }: RolloutResults,
  servedSeconds: number,
): RolloutVerdict {
  const passes = (failures: number, devices: number): boolean => failures * 100 > devices * bound.percentage;
  const pause: RolloutVerdict = {
    verdict: 'pause',
    because:
      `${String(troubled)} of ${String(tried)} devices that tried it failed, came back with the older revision or fell silent: ` +
      `more than ${String(bound.percentage)} %`,
  };
  const wait = (because: string): RolloutVerdict => ({ verdict: 'wait', because });
  if (tried >= bound.devices && passes(troubled, tried)) return pause;
  if (servedSeconds < intervalSeconds)
    return wait(`the step lasts ${remainingText(intervalSeconds - servedSeconds)} more`);
  if (open > 0 && passes(troubled + open, tried + open))
    return wait(`${formatCount(open, 'device has', 'devices have')} not reported a result yet`);
  if (passes(troubled, tried)) return pause;
  if (triedInStep < bound.devices && servedSeconds < silentSeconds)
    return wait(
      `${String(triedInStep)} of ${String(bound.devices)} devices have tried it in this step; it rises anyway after ${durationText(silentSeconds)}`,
    );
  return { verdict: 'raise', because: `${String(troubled)} of ${String(tried)} devices that tried it are in trouble` };
}

/**
 * `offered`: no result yet. `failed` and `held`: the device got the same offer again an hour or more later, and said in the second case that its
 * refreshes are held, or no longer lists the snap. `back`: the device had taken the revision and has the older one again; that stays.
 */
export type RolloutDeviceState = 'offered' | 'took' | 'held' | 'failed' | 'back';

/** The result of a rollout on one device. */
export interface RolloutDevice {
  /** The step of its first offer. */
  step: number;
  /** The revision that it had then. */
  had: number;
  state: RolloutDeviceState;
  /** The time of the last change of `state`, RFC 3339. */
  since: string;
}

/** A report of a device, as far as it concerns a rollout. */
export interface RolloutReport {
  /** The revision of the rollout. */
  revision: number;
  /** The installed revision; undefined if the device does not list the snap. */
  holds: number | undefined;
  /** Whether the device was offered the revision in this call, and whether it says that its refreshes are held. */
  isOffered: boolean;
  isHeld: boolean;
  /** The present step, and when the rollout started or was resumed. */
  step: number;
  judgedFrom: string;
  at: string;
}

/** The result on a device after a report; `before` itself if nothing changed. Only a device that got an offer has a result. */
export function toRolloutDevice(before: RolloutDevice | undefined, report: RolloutReport): RolloutDevice | undefined {
  const { revision, holds, isOffered, isHeld, step, judgedFrom, at } = report;
  if (before === undefined)
    return isOffered && holds !== undefined ? { step, had: holds, state: 'offered', since: at } : undefined;
  const become = (state: RolloutDeviceState): RolloutDevice =>
    state === before.state ? before : { ...before, state, since: at };
  if (before.state === 'back') return before;
  // A device that removed the snap has no offer to take. It keeps a result that it has.
  if (holds === undefined) return before.state === 'offered' ? become('held') : before;
  if (holds === revision) return become('took');
  if (before.state === 'took') return holds === before.had || isOffered ? become('back') : before;
  if (!isOffered || before.state === 'failed') return before;
  if (before.state === 'held') return isHeld ? before : become('offered');
  // While the rollout was paused, the device had no offer to take.
  if (before.since < judgedFrom) return { ...before, since: at };
  const isLate = Date.parse(at) - Date.parse(before.since) >= refreshTimeoutMs;
  if (!isLate) return before;
  return become(isHeld ? 'held' : 'failed');
}
