// The state of the store for the front page of the console, by the rules of 'larder doctor'.
import type { Examined } from '#api/services.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import { seconds } from '#domain/clock.ts';
import { examineEach, type Patient } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import type { Config } from '#src/config.ts';

/** How long a costly result is reused. */
const fresh = seconds(10);

interface Asked {
  store: Store;
  credentials: string | undefined;
  config: () => Config;
  serving: () => Promise<ServingState>;
}

/** Runs all quick examinations; the costly ones among them once in ten seconds, regardless of the number of pages. */
export function createExamined({ store, credentials, config, serving }: Asked): () => Promise<readonly Examined[]> {
  const patient: Patient = {
    data: store.directory,
    credentials,
    config,
    serving,
    damage: () => Promise.resolve([]),
    store: () => Promise.resolve(store),
  };
  const quick = examinations.filter(({ onHostAlone }) => onHostAlone !== true);
  const all = async (): Promise<readonly Examined[]> => {
    const kept = await costly();
    const found = await examineEach(
      quick.filter(({ isCostly }) => isCostly !== true),
      patient,
    );
    const named = new Map([...kept, ...found].map((one) => [one.what, one]));
    return quick.flatMap(({ what }) => named.get(what) ?? []);
  };
  let last: { at: number; faults: string; found: Promise<readonly Examined[]> } | undefined;
  const costly = async (): Promise<readonly Examined[]> => {
    const faults = ((await serving()).faults ?? []).map(({ code }) => code).join();
    const at = store.now().getTime();
    // A new or ended fault may change the result of each examination.
    if (last?.faults !== faults || Math.abs(at - last.at) >= fresh) {
      const some = quick.filter(({ isCostly }) => isCostly === true);
      last = { at, faults, found: examineEach(some, patient) };
    }
    return last.found;
  };
  return all;
}
