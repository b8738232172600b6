// The processes of a host that serve one store together, as each of them sees the others; workers/ is what starts them.
import type { Minute } from '#api/last-hour.ts';
import type { Figures } from '#api/metrics.ts';
import type { ServingState } from '#data/serving-state.ts';

/** What one of them may be asked, and what it answers. */
export interface Answers {
  state: ServingState;
  figures: Figures;
  minutes: Minute[];
}

export interface Team {
  /** Which of them this is, from 1. */
  number: number;
  /** How many there are to be. */
  size: number;
  /** Whether it is the first after a start: what those before it have left under way has ended. */
  begins: boolean;
  /** Whether it does what one does for all: the jobs, the scrub, the proof of the records, the certificate. */
  keeps: boolean;
  /** What a command on the host shows to be told of all of them. */
  secret: string;
  /** What each of the others answers, who is told what this one would; nobody waits for one that answers nothing. */
  ask<What extends keyof Answers>(what: What, own: Answers[What]): Promise<Answers[What][]>;
  /** How the others were a moment ago, as if they were one. */
  others(): ServingState | undefined;
  /** Tells the others that the server has another certificate. */
  certificateChanged(): void;
}

/** What each of them has of something that a process has so much of: together they have no more, but each has some. */
export const shareOf = (whole: number, team: Pick<Team, 'size'> | undefined): number =>
  team === undefined ? whole : Math.max(1, Math.ceil(whole / team.size));
