// What is looked at to say how the store is, by 'larder doctor' and by the front page of the console: one examination a record.
// All of them are always told of: one that cannot be done says why, and so never passes for one that found nothing.
import type { ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import type { Config } from '#src/config.ts';
import type { Fault } from '#src/faults.ts';
import { inOneSentence } from '#src/system-errors.ts';

/** A notice is something to know of, with which all can be well. */
export type Level = 'well' | 'notice' | 'wrong' | 'not looked at';

export interface Finding {
  level: Level;
  /** A clause, without a full stop. */
  says: string;
  /** What to do about it, in whole sentences. */
  mend?: string | undefined;
}

export interface Examination {
  /** What is looked at, a word or two. */
  what: string;
  /** Whether only the command looks: it takes too long for a page, or the serving process looks by itself. */
  onHostAlone?: true;
  /** Whether a page may show a result that is some seconds old. */
  isCostly?: true;
  look(patient: Patient): Finding | Promise<Finding>;
}

/** The store that is examined. What cannot be had of it is thrown as `CannotLook`. */
export interface Patient {
  data: string;
  /** The folder of what systemd hands over, where it does. */
  credentials: string | undefined;
  config(): Config;
  /** What is wrong with the database, read by itself; throws where there is none. */
  damage(): Promise<string[]>;
  /** The store, opened once for all examinations. */
  store(): Promise<Store>;
  /** What the serving process says of itself at this moment; undefined if no process serves the store. */
  serving(): Promise<ServingState | undefined>;
  /** Why the store is not served, if the host knows; asked only if no process serves it. */
  service?(): Fault | undefined;
}

/** Why an examination cannot be done: something that another one tells of. */
export class CannotLook extends Error {}

export const well = (says: string): Finding => ({ level: 'well', says });
export const notice = (says: string, mend?: string): Finding => ({ level: 'notice', says, mend });
export const wrong = (says: string, mend?: string): Finding => ({ level: 'wrong', says, mend });

/** What faults make of an examination: the worst decides, and without any all is well. */
export function judgedBy(faults: readonly Fault[], says: string): Finding {
  if (faults.length === 0) return well(says);
  return {
    level: faults.some(({ severity }) => severity === 'problem') ? 'wrong' : 'notice',
    says: faults.map((fault) => fault.says).join('; '),
    mend: [...new Set(faults.map(({ remedy }) => remedy))].join(' '),
  };
}

/** Does one examination, whatever comes of it. */
async function examine({ look }: Examination, patient: Patient): Promise<Finding> {
  try {
    return await look(patient);
  } catch (error) {
    if (!(error instanceof CannotLook)) return wrong(inOneSentence(error, { data: patient.data }));
    return { level: 'not looked at', says: `could not be looked at because ${error.message}` };
  }
}

/** Does some examinations, one after the other. Each shows the faults that the serving process has under its name. */
export async function examineEach(
  some: readonly Examination[],
  patient: Patient,
): Promise<(Finding & { what: string })[]> {
  const { faults = [] } = (await patient.serving().catch(() => undefined)) ?? {};
  const subjects = new Set(some.map(({ what }) => what));
  const found: (Finding & { what: string })[] = [];
  for (const examination of some) {
    const { what } = examination;
    // A fault of a subject that is not examined here is one of the server.
    const own = faults.filter(({ about }) => about === what || (what === 'Server' && !subjects.has(about)));
    found.push({ what, ...withFaults(await examine(examination, patient), own) });
  }
  return found;
}

/** A finding with the faults that it does not mention yet. */
function withFaults(finding: Finding, faults: readonly Fault[]): Finding {
  const more = faults.filter(({ says }) => !finding.says.includes(says));
  if (more.length === 0) return finding;
  const own = judgedBy(more, '');
  if (finding.level === 'well' || finding.level === 'not looked at') return own;
  return {
    level: finding.level === 'wrong' ? 'wrong' : own.level,
    says: `${finding.says}; ${own.says}`,
    mend: [...new Set([finding.mend, own.mend])].filter((text) => text !== undefined).join(' '),
  };
}
