// The examinations behind 'larder doctor' and the front page of the console, one record each. Every examination is always shown: if one
// cannot be done, it gives the reason, so that it is not taken for one without findings.
import type { ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import type { Config } from '#src/config.ts';
import type { Fault } from '#src/faults.ts';
import { inOneSentence } from '#src/system-errors.ts';

/** A notice is worth knowing; the store can be well with it. */
export type Level = 'well' | 'notice' | 'wrong' | 'not looked at';

export interface Finding {
  level: Level;
  /** A clause, without a full stop. */
  says: string;
  /** The remedy, in whole sentences. */
  mend?: string | undefined;
}

export interface Examination {
  /** The subject, a word or two. */
  what: string;
  /** Whether only the command runs it: it takes too long for a page, or the serving process watches the subject itself. */
  onHostAlone?: true;
  /** Whether a page may show a result that is some seconds old. */
  isCostly?: true;
  look(patient: Patient): Finding | Promise<Finding>;
}

/** The examined store. A member throws `CannotLook` if it is unavailable. */
export interface Patient {
  data: string;
  /** The folder of systemd credentials, if systemd passes any. */
  credentials: string | undefined;
  config(): Config;
  /** The corruption of the database, read without opening the store; throws if there is no database. */
  damage(): Promise<string[]>;
  /** The store, opened once for all examinations. */
  store(): Promise<Store>;
  /** The present state of the serving process; undefined if no process serves the store. */
  serving(): Promise<ServingState | undefined>;
  /** Why the store is not served, if the host knows; asked only if no process serves it. */
  service?(): Fault | undefined;
}

/** Why an examination cannot be done; another examination reports the cause. */
export class CannotLook extends Error {}

export const well = (says: string): Finding => ({ level: 'well', says });
export const notice = (says: string, mend?: string): Finding => ({ level: 'notice', says, mend });
export const wrong = (says: string, mend?: string): Finding => ({ level: 'wrong', says, mend });

/** The finding for some faults: the worst one decides; without faults all is well. */
export function judgedBy(faults: readonly Fault[], says: string): Finding {
  if (faults.length === 0) return well(says);
  return {
    level: faults.some(({ severity }) => severity === 'problem') ? 'wrong' : 'notice',
    says: faults.map((fault) => fault.says).join('; '),
    mend: [...new Set(faults.map(({ remedy }) => remedy))].join(' '),
  };
}

/** Runs one examination; errors become a finding. */
async function examine({ look }: Examination, patient: Patient): Promise<Finding> {
  try {
    return await look(patient);
  } catch (error) {
    if (!(error instanceof CannotLook)) return wrong(inOneSentence(error, { data: patient.data }));
    return { level: 'not looked at', says: `could not be looked at because ${error.message}` };
  }
}

/** Runs some examinations one after another. Each also shows the faults that the serving process reports for its subject. */
export async function examineEach(
  some: readonly Examination[],
  patient: Patient,
): Promise<(Finding & { what: string })[]> {
  const { faults = [] } = (await patient.serving().catch(() => undefined)) ?? {};
  const subjects = new Set(some.map(({ what }) => what));
  const found: (Finding & { what: string })[] = [];
  for (const examination of some) {
    const { what } = examination;
    // A fault about a subject that is not examined here is shown under the server.
    const own = faults.filter(({ about }) => about === what || (what === 'Server' && !subjects.has(about)));
    found.push({ what, ...withFaults(await examine(examination, patient), own) });
  }
  return found;
}

/** Adds the faults to a finding that it does not mention yet. */
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
