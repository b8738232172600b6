// What 'larder doctor' looks at: one examination a record. All of them are always told of: one that cannot be done
// says why, and so never passes for one that found nothing.
import { join } from 'node:path';

import { readConfig, type Config } from '#src/config.ts';
import type { ServingState } from '#appliance/state.ts';
import type { Store } from '#data/store.ts';
import { inOneSentence } from '#src/system-errors.ts';
import type { World } from '../../frame/command.ts';
import { servingState } from '../../frame/serving.ts';
import { openUpgraded } from '../../frame/store.ts';

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
  look(patient: Patient): Finding | Promise<Finding>;
}

/** The store that is examined. What cannot be had of it is thrown as `CannotLook`. */
export interface Patient {
  data: string;
  world: World;
  config(): Config;
  /** The store, opened once for all examinations. */
  store(): Promise<Store>;
  /** What the serving process says of itself; nothing when there is none. */
  serving(): ServingState | undefined;
  close(): Promise<void>;
}

/** Why an examination cannot be done: something that another one tells of. */
export class CannotLook extends Error {}

export const well = (says: string): Finding => ({ level: 'well', says });
export const notice = (says: string, mend?: string): Finding => ({ level: 'notice', says, mend });
export const wrong = (says: string, mend?: string): Finding => ({ level: 'wrong', says, mend });

/** Does one examination, whatever comes of it. */
export async function examine({ look }: Examination, patient: Patient): Promise<Finding> {
  try {
    return await look(patient);
  } catch (error) {
    if (!(error instanceof CannotLook)) return wrong(inOneSentence(error, { data: patient.data }));
    return { level: 'not looked at', says: `could not be looked at because ${error.message}` };
  }
}

/** The store in a data directory, as its owner sees it. */
export function patientIn(data: string, world: World): Patient {
  const config = once(() => readConfig(join(data, 'larder.toml')), 'larder.toml is not good');
  const serving = once(() => servingState(data), 'store.lock cannot be used');
  let opening: Promise<Store> | undefined;
  return {
    data,
    world,
    config,
    serving,
    store() {
      config();
      opening ??= openUpgraded(data, world).catch((cause: unknown) => {
        throw new CannotLook('the store cannot be opened', { cause });
      });
      return opening;
    },
    async close() {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}

/** Asked for more than once and found out once; where that fails, what depends on it cannot be looked at. */
function once<Found>(find: () => Found, because: string): () => Found {
  let found: { value: Found } | { cause: unknown } | undefined;
  return () => {
    if (found === undefined) {
      try {
        found = { value: find() };
      } catch (cause) {
        found = { cause };
      }
    }
    if ('value' in found) return found.value;
    throw new CannotLook(because, { cause: found.cause });
  };
}
