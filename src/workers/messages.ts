// What the supervisor and its workers say to each other.
import type { Answers } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';

/** What a worker is among the others. */
export interface Role {
  /** The release of the supervisor. */
  version: string;
  number: number;
  size: number;
  begins: boolean;
  keeps: boolean;
  /** What a command on the host shows to be told of all of them. */
  secret: string;
}

/** What the supervisor says to a worker. */
export type Order =
  | ({ order: 'begin' } & Role)
  | { order: 'reload' }
  | { order: 'renew' }
  | { order: 'stop' }
  | { order: 'others'; others: ServingState }
  /** Asks it, and gives what was asked for the others to answer. */
  | { order: 'answer'; ask: number; what: keyof Answers }
  | { order: 'answered'; ask: number; answers: unknown[] };

/** What a worker says to the supervisor. */
export type Report =
  | { report: 'here' }
  | { report: 'serves'; url: string }
  /** `atOnce` where nobody may serve on: the disk broke a promise. */
  | { report: 'failed'; problem: string; atOnce: boolean }
  | { report: 'renewed' }
  | { report: 'answer'; ask: number; answer: unknown }
  | { report: 'asks'; ask: number; what: keyof Answers; own: unknown };

/** By this a process knows that a supervisor of ours has started it. */
export const workerVariable = 'LARDER_WORKER';
