// The examinations behind 'larder doctor' and the front page of the console, one record each. Every examination is always shown: if one
// cannot be done, it gives the reason, so that it is not taken for one without findings.
import type { KeyManager } from '#assertions/keys/key-manager.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { StoreHandle } from '#data/store.ts';
import type { Config } from '#configuration/config.ts';
import type { Fault } from '#platform/faults.ts';
import { inOneSentence } from '#platform/system-errors.ts';

/** A notice is worth knowing; the store can be well with it. */
export type FindingLevel = 'well' | 'notice' | 'wrong' | 'not looked at';

export interface ExaminationFinding {
  level: FindingLevel;
  /** A clause, without a full stop. */
  says: string;
  /** The remedy, in whole sentences. */
  mend?: string | undefined;
}

export interface Examination {
  /** The subject, a word or two. */
  subject: string;
  /** Whether only the command runs it: it takes too long for a page, or the serving process watches the subject itself. */
  onHostAlone?: true;
  /** Whether a page may show a result that is some seconds old. */
  isCostly?: true;
  look(patient: ExaminedStore): ExaminationFinding | Promise<ExaminationFinding>;
}

/** The examined store. A member throws `ExaminationUnavailableError` if it is unavailable. */
export interface ExaminedStore {
  data: string;
  /** The folder of systemd credentials, if systemd passes any. */
  credentials: string | undefined;
  config(): Config;
  /** The corruption of the database, read without opening the store; throws if there is no database. */
  damage(): Promise<string[]>;
  /** The store, opened once for all examinations. */
  store(): Promise<StoreHandle>;
  /** The present state of the serving process; undefined if no process serves the store. */
  serving(): Promise<ServingState | undefined>;
  /** The key manager; undefined if it cannot be asked. Asked only if no process serves the store. */
  keyManager?(): KeyManager | undefined;
  /** Why the store is not served, if the host knows; asked only if no process serves it. */
  service?(): Fault | undefined;
}

/** Why an examination cannot be done; another examination reports the cause. */
export class ExaminationUnavailableError extends Error {}

export const well = (says: string): ExaminationFinding => ({ level: 'well', says });
export const notice = (says: string, mend?: string): ExaminationFinding => ({ level: 'notice', says, mend });
export const wrong = (says: string, mend?: string): ExaminationFinding => ({ level: 'wrong', says, mend });

/** The finding for some faults: the worst one decides; without faults all is well. */
export function findingOfFaults(faults: readonly Fault[], says: string): ExaminationFinding {
  if (faults.length === 0) return well(says);
  return {
    level: faults.some(({ severity }) => severity === 'problem') ? 'wrong' : 'notice',
    says: faults.map((fault) => fault.says).join('; '),
    mend: [...new Set(faults.map(({ remedy }) => remedy))].join(' '),
  };
}

/** Runs one examination; errors become a finding. */
async function examine({ look }: Examination, patient: ExaminedStore): Promise<ExaminationFinding> {
  try {
    return await look(patient);
  } catch (error) {
    if (!(error instanceof ExaminationUnavailableError)) return wrong(inOneSentence(error, { data: patient.data }));
    return { level: 'not looked at', says: `could not be looked at because ${error.message}` };
  }
}

/** Runs some examinations one after another. Each also shows the faults that the serving process reports for its subject. */
export async function examineEach(
  some: readonly Examination[],
  patient: ExaminedStore,
): Promise<(ExaminationFinding & { what: string })[]> {
  const { faults = [] } = (await patient.serving().catch(() => undefined)) ?? {};
  const subjects = new Set(some.map(({ subject }) => subject));
  const findings: (ExaminationFinding & { what: string })[] = [];
  for (const examination of some) {
    const { subject } = examination;
    // A fault about a subject that is not examined here is shown under the server.
    const own = faults.filter(({ about }) => about === subject || (subject === 'Server' && !subjects.has(about)));
    findings.push({ what: subject, ...withFaults(await examine(examination, patient), own) });
  }
  return findings;
}

/** Adds the faults to a finding that it does not mention yet. */
function withFaults(finding: ExaminationFinding, faults: readonly Fault[]): ExaminationFinding {
  const more = faults.filter(({ says }) => !finding.says.includes(says));
  if (more.length === 0) return finding;
  const own = findingOfFaults(more, '');
  if (finding.level === 'well' || finding.level === 'not looked at') return own;
  return {
    level: finding.level === 'wrong' ? 'wrong' : own.level,
    says: `${finding.says}; ${own.says}`,
    mend: [...new Set([finding.mend, own.mend])].filter((text) => text !== undefined).join(' '),
  };
}
