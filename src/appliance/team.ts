// The processes of a host that serve one store together, as one of them sees the others; src/workers/ starts them.
import type { Minute } from '#http/metrics/last-hour.ts';
import type { MetricCounts } from '#http/metrics/metrics.ts';
import type { ServingState } from '#data/serving-state.ts';

/** The requests to a process and the types of the replies. */
export interface TeamReplies {
  state: ServingState;
  figures: MetricCounts;
  minutes: Minute[];
}

export interface Team {
  /** The number of this process, from 1. */
  number: number;
  /** The configured number of processes. */
  size: number;
  /** Whether it is the first process after a start: the unfinished work of earlier processes has then ended. */
  begins: boolean;
  /** Whether it does the work that only one process does: the jobs, the scrub, the check of the records, the certificate. */
  keeps: boolean;
  /** The secret that a command on the host sends to get the state of all processes. */
  secret: string;
  /** How many processes had ended unexpectedly when this one began. */
  ended: number;
  /** Returns the replies of the others, who receive this one's own reply; a process that does not answer is left out. */
  ask<What extends keyof TeamReplies>(kind: What, own: TeamReplies[What]): Promise<TeamReplies[What][]>;
  /** The recent state of the other processes, combined. */
  others(): ServingState | undefined;
  /** Tells the others that the server has another certificate. */
  certificateChanged(): void;
}

/** The share of each process in a limit: rounded up, so that each has at least one. */
export const shareOf = (whole: number, team: Pick<Team, 'size'> | undefined): number =>
  team === undefined ? whole : Math.max(1, Math.ceil(whole / team.size));
