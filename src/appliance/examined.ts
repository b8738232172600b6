// What the front page of the console asks: how the store is, as 'larder doctor' would say.
import type { Examined } from '#api/services.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import { seconds } from '#domain/clock.ts';
import { examineEach, type Patient } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import type { Config } from '#src/config.ts';

/** How long a page may show what another one has just found out. */
const fresh = seconds(10);

interface Asked {
  store: Store;
  credentials: string | undefined;
  config: () => Config;
  serving: () => ServingState;
}

/** Looks at all that takes no long while, for however many pages once in ten seconds. */
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
  let last: { at: number; found: Promise<readonly Examined[]> } | undefined;
  return () => {
    const at = store.now().getTime();
    if (last === undefined || Math.abs(at - last.at) >= fresh) last = { at, found: examineEach(quick, patient) };
    return last.found;
  };
}
