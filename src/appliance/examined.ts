// What the front page of the console asks: how the store is, as 'larder doctor' would say.
import type { Examined } from '#api/services.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import { seconds } from '#domain/clock.ts';
import { examineEach, type Patient } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import type { Config } from '#src/config.ts';

/** How long a page may show a costly result of another one. */
const fresh = seconds(10);

interface Asked {
  store: Store;
  credentials: string | undefined;
  config: () => Config;
  serving: () => Promise<ServingState>;
}

/** Does all examinations that are quick; the costly ones among them once in ten seconds, for however many pages. */
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
    // Another fault, or one less, may show in each of them.
    if (last?.faults !== faults || Math.abs(at - last.at) >= fresh) {
      const some = quick.filter(({ isCostly }) => isCostly === true);
      last = { at, faults, found: examineEach(some, patient) };
    }
    return last.found;
  };
  return all;
}
