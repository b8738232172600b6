// The state of the store for the front page of the console, by the rules of 'larder doctor'.
import type { ExaminationResult } from '#http/services.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { StoreHandle } from '#data/store.ts';
import { seconds } from '#domain/clock.ts';
import { examineEach, type ExaminedStore } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import type { Config } from '#configuration/config.ts';

/** How long a costly result is reused. */
const maxResultAgeMs = seconds(10);

interface ConsoleExaminationOptions {
  store: StoreHandle;
  credentials: string | undefined;
  config: () => Config;
  serving: () => Promise<ServingState>;
}

/** Runs all quick examinations; the costly ones among them once in ten seconds, regardless of the number of pages. */
export function createConsoleExamination({
  store,
  credentials,
  config,
  serving,
}: ConsoleExaminationOptions): () => Promise<readonly ExaminationResult[]> {
  const patient: ExaminedStore = {
    data: store.directory,
    credentials,
    config,
    serving,
    damage: () => Promise.resolve([]),
    store: () => Promise.resolve(store),
  };
  const quick = examinations.filter(({ onHostAlone }) => onHostAlone !== true);
  const all = async (): Promise<readonly ExaminationResult[]> => {
    const costlyFindings = await costly();
    const quickFindings = await examineEach(
      quick.filter(({ isCostly }) => isCostly !== true),
      patient,
    );
    const findingsBySubject = new Map([...costlyFindings, ...quickFindings].map((finding) => [finding.what, finding]));
    return quick.flatMap(({ subject }) => findingsBySubject.get(subject) ?? []);
  };
  let last: { at: number; faults: string; findings: Promise<readonly ExaminationResult[]> } | undefined;
  const costly = async (): Promise<readonly ExaminationResult[]> => {
    const faults = ((await serving()).faults ?? []).map(({ code }) => code).join();
    const at = store.now().getTime();
    // A new or ended fault may change the result of each examination.
    if (last?.faults !== faults || Math.abs(at - last.at) >= maxResultAgeMs) {
      const some = quick.filter(({ isCostly }) => isCostly === true);
      last = { at, faults, findings: examineEach(some, patient) };
    }
    return last.findings;
  };
  return all;
}
