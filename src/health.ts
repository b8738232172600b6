// What somebody should look at: told in the same words by /readyz, `larder status`, `larder doctor` and the log.
import type { Logger } from 'pino';

import { inOneSentence } from './system-errors.ts';

/** What a problem is about; at most one problem stands under each name. */
export type Subject = string;

/** Whether something is wrong, or something is to be known of with which all can be well. */
export type Gravity = 'problem' | 'notice';

export interface Health {
  /**
   * Says what is wrong with something and what to do about it, in a sentence for a person, or that it is well again
   * (undefined). The log hears of each change once.
   */
  report(subject: Subject, problem: string | undefined): void;
  /**
   * A problem that is looked up whenever somebody asks, because whoever knows of it cannot tell when it goes. That it cannot be
   * looked up, as where the data directory is gone, is a problem too.
   */
  watch(subject: Subject, look: () => string | undefined, gravity?: Gravity): void;
  /** What stands now, in the order in which the subjects were first heard of. */
  problems(): string[];
  /** What somebody should know of, with which all can be well. */
  notices(): string[];
}

export function createHealth(log: Pick<Logger, 'error' | 'info'>): Health {
  const looks = new Map<Subject, { gravity: Gravity; look: () => string | undefined }>();
  const reported = new Map<Subject, string>();
  const blind = new Map<Subject, string>();
  const found = (subject: Subject, look: () => string | undefined): string | undefined => {
    try {
      const sentence = look();
      blind.delete(subject);
      return sentence;
    } catch (error) {
      const problem = `The store cannot look whether all is well ('${subject}'): ${inOneSentence(error)}.`;
      if (blind.get(subject) !== problem) log.error({ subject, err: error }, problem);
      blind.set(subject, problem);
      return problem;
    }
  };
  const sentences = (wanted: Gravity): string[] =>
    [...looks]
      .filter(([, { gravity }]) => gravity === wanted)
      .map(([subject, { look }]) => found(subject, look))
      .filter((sentence) => sentence !== undefined);
  return {
    report(subject, problem) {
      if (!looks.has(subject)) looks.set(subject, { gravity: 'problem', look: () => reported.get(subject) });
      const before = reported.get(subject);
      if (problem === undefined) reported.delete(subject);
      else reported.set(subject, problem);
      if (problem === before) return;
      if (problem !== undefined) log.error({ subject }, problem);
      else log.info({ subject, was: before }, 'this is well again');
    },
    watch(subject, look, gravity = 'problem') {
      looks.set(subject, { gravity, look });
    },
    problems: () => sentences('problem'),
    notices: () => sentences('notice'),
  };
}
