// Builds the custody of signing keys, and watches the key manager while the store serves.
import { join } from 'node:path';

import { createKeyCustody, type KeyCustody } from '#assertions/keys/key-custody.ts';
import { createKeyManager, refusedPinFile, type KeyManager } from '#assertions/keys/key-manager.ts';
import { lockPin } from '#data/lock.ts';
import type { StoreHandle } from '#data/store.ts';
import { seconds } from '#domain/clock.ts';
import { probeKeyManager } from '#examinations/keys.ts';
import type { Fault } from '#platform/faults.ts';
import type { ApplianceOptions } from '../options.ts';
import type { ApplianceParts } from '../parts.ts';
import type { Current } from '../settings.ts';
import type { Storage } from '../storage.ts';

/** How long the result of a check is reused: each starts a program, and anyone may ask for /readyz. */
const maxCheckAgeMs = seconds(5);

export async function startKeyManager(
  parts: ApplianceParts,
  { env = {}, limits, team, alongside }: ApplianceOptions,
  { store, health }: Pick<Storage, 'store' | 'health'>,
  current: Current,
): Promise<KeyManager> {
  const { directory } = store;
  const manager = await parts.start(
    'key manager',
    () =>
      createKeyManager({
        settings: () => current().config.keys,
        env,
        refusedPinFile: join(directory, refusedPinFile),
        lockPin: lockPin(directory),
      }),
    (started) => {
      started.close();
    },
  );
  // The first process of a store tries a refused PIN again, as a reload does. Further processes do not.
  if (team?.begins ?? alongside !== true) manager.retry();
  health.watchAll('key-manager', watchKeyManager(store, manager, limits?.watchMs ?? maxCheckAgeMs));
  return manager;
}

export const custodyOf = (
  { store: { records } }: Pick<Storage, 'store'>,
  manager: KeyManager,
  current: Current,
): KeyCustody =>
  createKeyCustody({
    find: (keyId) => records.signingKeys.find(keyId),
    masterKey: () => current().masterKey,
    manager,
  });

/** Only the caller that starts a check waits for it, so that a device that hangs delays no other. */
function watchKeyManager(store: StoreHandle, manager: KeyManager, maxAgeMs: number): () => Promise<Fault[]> {
  let checkedAt = -Infinity;
  let isChecking = false;
  let isUsed = false;
  const check = async (): Promise<void> => {
    isChecking = true;
    try {
      isUsed = await probeKeyManager(store, manager);
    } finally {
      isChecking = false;
      checkedAt = performance.now();
    }
  };
  return async () => {
    if (!isChecking && performance.now() - checkedAt >= maxAgeMs) await check();
    return isUsed ? manager.faults() : [];
  };
}
