// The messages between the supervisor and its workers.
import type { TeamReplies } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';

/** The role of a worker; see `Team`. */
export interface WorkerRole {
  /** The release of the supervisor. */
  version: string;
  number: number;
  size: number;
  begins: boolean;
  keeps: boolean;
  /** The secret that a command on the host sends to get the state of all processes. */
  secret: string;
  /** How many workers had ended unexpectedly when this one began. */
  ended: number;
}

/** Messages of the supervisor to a worker. */
export type Order =
  | ({ order: 'begin' } & WorkerRole)
  | { order: 'reload' }
  | { order: 'renew' }
  | { order: 'stop' }
  | { order: 'others'; others: ServingState }
  /** `answer` requests a reply from the worker; `answered` delivers the replies of the others to a worker that asked. */
  | { order: 'answer'; ask: number; what: keyof TeamReplies }
  | { order: 'answered'; ask: number; answers: unknown[] };

/** Messages of a worker to the supervisor. */
export type WorkerReport =
  | { report: 'here' }
  | { report: 'serves'; url: string }
  /** `atOnce` if no worker may continue: a sync failed. */
  | { report: 'failed'; problem: string; atOnce: boolean }
  | { report: 'renewed' }
  | { report: 'answer'; ask: number; answer: unknown }
  | { report: 'asks'; ask: number; what: keyof TeamReplies; own: unknown };

/** The environment variable that tells a process that a supervisor has started it. */
export const workerVariable = 'LARDER_WORKER';
