// Counts the attempts of the trials of a proof, and their controls.
import { listCauses } from '#platform/system-errors.ts';

/** The trials of a proof, in the order of a round. */
export const trialTitles = {
  kills: 'Kills under load: each acknowledged change is there once, and the examinations find nothing',
  faults: 'Injected faults: the store answers 5xx and keeps each acknowledged change',
  'flipped-bits': 'Flipped bits in blobs and in the database: no wrong byte is served, and the damage is named',
  restore: 'Backup and restore: the restored store equals the store',
  'audit-tampers': 'Changed audit log: the verification finds each change',
  'full-disk': 'Full disk: the store answers 507 and keeps each acknowledged change',
} as const;

export type TrialName = keyof typeof trialTitles;

/** The result of one kind of trial over all rounds. */
export interface TrialTally {
  tried: number;
  held: number;
  /** Controls: changes that the same checks must notice, and intact copies that they must accept. */
  controls: number;
  controlsNoticed: number;
  /** The number of attempts of each kind. */
  details: Record<string, number>;
  /** Attempts that this system does not allow, with the reasons. */
  notPossible: string[];
  problems: string[];
}

export type Tallies = Record<TrialName, TrialTally>;

const newTally = (): TrialTally => ({
  tried: 0,
  held: 0,
  controls: 0,
  controlsNoticed: 0,
  details: {},
  notPossible: [],
  problems: [],
});

export const newTallies = (): Tallies =>
  Object.fromEntries(Object.keys(trialTitles).map((name) => [name, newTally()])) as Tallies;

const maxProblems = 100;

const note = (tally: TrialTally, problem: string): void => {
  if (tally.problems.length < maxProblems) tally.problems.push(problem);
};

/** Counts an attempt; it held if there are no problems. */
export function countAttempt(tally: TrialTally, detail: string, problems: readonly string[]): void {
  tally.tried += 1;
  tally.details[detail] = (tally.details[detail] ?? 0) + 1;
  if (problems.length === 0) tally.held += 1;
  for (const problem of problems) note(tally, `${detail}: ${problem}`);
}

/** Counts a control. A check that misses it proves nothing. */
export function countControl(tally: TrialTally, control: string, isNoticed: boolean): void {
  tally.controls += 1;
  if (isNoticed) tally.controlsNoticed += 1;
  else note(tally, `control failed: ${control}`);
}

export function countImpossible(tally: TrialTally, reason: string): void {
  if (!tally.notPossible.includes(reason)) tally.notPossible.push(reason);
}

/** Counts a trial that ended with an error. */
export const countError = (tally: TrialTally, error: unknown): void => {
  const causes = listCauses(error).map((cause) => (cause instanceof Error ? cause.message : String(cause)));
  countAttempt(tally, 'ended with an error', [causes.join(': ')]);
};

/** Whether everything that could be tried held, and each control was noticed. */
export const isProven = ({ tried, held, controls, controlsNoticed, notPossible }: TrialTally): boolean =>
  (tried > 0 || notPossible.length > 0) &&
  held === tried &&
  controlsNoticed === controls &&
  (tried === 0 || controls > 0);
