// Gives `larder doctor` access to the store that it examines, from outside of the serving process.
import { join } from 'node:path';

import { recordsPlace } from '#data/records-place.ts';
import { askServing } from '#data/ask-serving.ts';
import { servingState, type ServingState } from '#data/serving-state.ts';
import type { Store } from '#data/store.ts';
import { inspectDatabase } from '#engine/place.ts';
import { CannotLook, type Patient } from '#examinations/examination.ts';
import { readConfig } from '#src/config.ts';
import { nativeBinding } from '#src/native.ts';
import type { World } from '../frame/command.ts';
import { whyNotServed, type UnitState } from './service.ts';
import { openUpgraded, refuseWithoutDatabase } from '../frame/store.ts';

/** The store in a data directory, as its owner sees it. */
export function patientIn(
  data: string,
  world: World,
  unit: UnitState | undefined,
): Patient & { close(): Promise<void> } {
  const config = once(() => readConfig(join(data, 'larder.toml')), 'larder.toml is not good');
  const isServed = once(() => servingState(data), 'store.lock cannot be used');
  let asked: Promise<ServingState | undefined> | undefined;
  const credentials = world.env['CREDENTIALS_DIRECTORY'];
  let opening: Promise<Store> | undefined;
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
      return (asked ??= askServing(data));
    },
    service: () => whyNotServed(data, unit),
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

/** Caches the result of `find`; if it fails, each call throws CannotLook, so that dependent checks are skipped. */
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
