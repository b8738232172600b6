// Runs a history at a set-up for a test, and prints its seed and figures.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Test } from 'tap';

import { chooseSeed } from './random.ts';
import { runHistory, type StoreSetUp } from './run.ts';

/** The seconds of all runs together: LARDER_HISTORY_MINUTES, or one hour; 5 minutes in the short form of the lane. */
const totalSeconds =
  60 * Number(process.env['LARDER_HISTORY_MINUTES'] ?? (process.env['LARDER_LONG'] === '1' ? 60 : 5));

export const historyTimeoutMs = 1000 * (2 * totalSeconds + 600);

/** Runs a history for a share of the whole time. `LARDER_SEED` repeats the choices of an earlier run. */
export async function runShare(t: Test, name: string, setUp: StoreSetUp, share: number): Promise<void> {
  const seed = chooseSeed();
  t.comment(`${name}: LARDER_SEED=${seed}`);
  const { violations, history, operations, answered, changes, entries, disturbances } = await runHistory(setUp, {
    seed,
    durationMs: 1000 * totalSeconds * share,
  });
  const done = Object.entries(changes).map(([action, count]) => `${count} ${action}`);
  t.comment(`${name}: ${done.join(', ')}`);
  const events = Object.entries(disturbances).map(([event, count]) => `${count} ${event}`);
  t.comment(
    `${name}: ${operations} operations (${Math.round(operations / (totalSeconds * share))} per second), ${answered} answered, ${entries} entries; ${events.join(', ')}`,
  );
  if (violations.length > 0) {
    const file = join(tmpdir(), `larder-history-${seed}.json`);
    writeFileSync(file, JSON.stringify(history));
    t.comment(`${name}: the history and the log are in ${file}`);
  }
  t.same(violations.slice(0, 20), [], `${violations.length} violations with LARDER_SEED=${seed}`);
  t.ok(answered > 0);
}
