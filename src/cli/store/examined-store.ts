// Gives `larder doctor` access to the store that it examines, from outside of the serving process.
import { join } from 'node:path';

import { recordsPlace } from '#data/records-place.ts';
import { askServing } from '#data/ask-serving.ts';
import { servingState, type ServingState } from '#data/serving-state.ts';
import type { StoreHandle } from '#data/store.ts';
import { inspectDatabase } from '#engine/place.ts';
import { ExaminationUnavailableError, type ExaminedStore } from '#examinations/examination.ts';
import { readConfig } from '#configuration/config.ts';
import { nativeBinding } from '#platform/native.ts';
import type { World } from '../frame/command.ts';
import { explainNotServed, type UnitState } from './service.ts';
import { hasManagerVariables, keyManagerOf } from '../keys/find-keys.ts';
import { openUpgraded, refuseWithoutDatabase } from '../frame/store.ts';

/** The store in a data directory, as its owner sees it. */
export function openExaminedStore(
  data: string,
  world: World,
  unit: UnitState | undefined,
): ExaminedStore & { close(): Promise<void> } {
  const config = cacheResult(() => readConfig(join(data, 'larder.toml')), 'larder.toml is not good');
  const isServed = cacheResult(() => servingState(data), 'store.lock cannot be used');
  let servingRequest: Promise<ServingState | undefined> | undefined;
  const credentials = world.env['CREDENTIALS_DIRECTORY'];
  let opening: Promise<StoreHandle> | undefined;
  return {
    data,
    credentials,
    config,
    async damage() {
      // An invalid configuration is reported once, by its own check.
      const settings = config();
      refuseWithoutDatabase(data);
      const place = recordsPlace(data, settings, credentials);
      const { pages, rows } = await inspectDatabase(place, { nativeBinding: nativeBinding() });
      return [...pages, ...rows];
    },
    serving: async () => {
      if (isServed() === undefined) return undefined;
      return (servingRequest ??= askServing(data));
    },
    keyManager: () =>
      hasManagerVariables(config(), world) ? keyManagerOf({ directory: data, config: config() }, world) : undefined,
    service: () => explainNotServed(data, unit),
    store() {
      config();
      opening ??= openUpgraded(data, world).catch((cause: unknown) => {
        throw new ExaminationUnavailableError('the store cannot be opened', { cause });
      });
      return opening;
    },
    async close() {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}

/** Caches the result of `find`; if it fails, each call throws ExaminationUnavailableError, so that dependent checks are skipped. */
function cacheResult<Found>(find: () => Found, because: string): () => Found {
  let cached: { value: Found } | { cause: unknown } | undefined;
  return () => {
    if (cached === undefined) {
      try {
        cached = { value: find() };
      } catch (cause) {
        cached = { cause };
      }
    }
    if ('value' in cached) return cached.value;
    throw new ExaminationUnavailableError(because, { cause: cached.cause });
  };
}
