// The two ways to change a store, an operation and a command, and their entries in the audit log.
import type { Test } from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { larder } from '../cli/world.ts';

/** A store with a clock at the time that commands read from the system. */
export async function startNow(t: Test, options?: Parameters<typeof startStore>[1]): Promise<TestAppliance> {
  const store = await startStore(t, options);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  return store;
}

/** Runs a command on the store while it serves; returns its output. */
export async function command(store: TestAppliance, line: string): Promise<Record<string, unknown>> {
  const { out, err } = await larder(`${line} --json --data ${store.directory}`);
  return JSON.parse(out === '' ? err : out) as Record<string, unknown>;
}

/** The newest entry of the audit log, without actor, time and request. */
export async function newest({ beside: writableStore }: TestAppliance) {
  const [row] = await writableStore.records.audit.newest(Number.MAX_SAFE_INTEGER, 1);
  return row && { action: row.action, object: row.object, outcome: row.outcome, details: JSON.parse(row.details) };
}
