// The two ways in which people do something to a store, an operation and a command, and what the audit log says of it.
import type { Test } from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { larder } from '../cli/world.ts';

/** A store whose clock says what commands read off theirs. */
export async function startNow(t: Test, options?: Parameters<typeof startStore>[1]): Promise<TestAppliance> {
  const store = await startStore(t, options);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  return store;
}

/** Runs a command on the store while it serves; what it answers. */
export async function command(store: TestAppliance, line: string): Promise<Record<string, unknown>> {
  const { out, err } = await larder(`${line} --json --data ${store.directory}`);
  return JSON.parse(out === '' ? err : out) as Record<string, unknown>;
}

/** The newest entry of the audit log but for who did it, when, and by which request. */
export async function newest({ beside }: TestAppliance) {
  const [row] = await beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 1);
  return row && { action: row.action, object: row.object, outcome: row.outcome, details: JSON.parse(row.details) };
}
