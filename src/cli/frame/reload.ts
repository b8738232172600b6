// Makes the serving process reload its configuration, and waits for the result.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seconds } from '#domain/clock.ts';
import { readStateFile, servingState, type ServingState } from '#data/serving-state.ts';
import { configDigest } from '#configuration/config.ts';

/** `problem` says why the serving process refused the file; `unknown` means that it did not reply in time. */
export type ReloadOutcome = { state: 'not serving' | 'reloaded' | 'unknown' } | { state: 'refused'; problem: string };

const reloadTimeoutMs = seconds(10);
const pollIntervalMs = 25;

/** Sends SIGHUP to the serving process, if there is one; returns its state before the signal. */
export function signalReload(directory: string): ServingState | undefined {
  const serving = servingState(directory);
  if (serving === undefined) return undefined;
  try {
    process.kill(serving.pid, 'SIGHUP');
  } catch {
    // The process has just ended.
    return undefined;
  }
  return serving;
}

/** Makes the serving process load the current configuration file. */
export async function reloadServing(directory: string): Promise<ReloadOutcome> {
  if (signalReload(directory) === undefined) return { state: 'not serving' };
  const sha256 = configDigest(join(directory, 'larder.toml'));
  for (let waitedMs = 0; waitedMs < reloadTimeoutMs; waitedMs += pollIntervalMs) {
    await sleep(pollIntervalMs);
    const { configuration } = readStateFile(directory) ?? {};
    if (configuration?.sha256 !== sha256) continue;
    const { problem } = configuration;
    return problem === undefined ? { state: 'reloaded' } : { state: 'refused', problem };
  }
  return { state: 'unknown' };
}

/** Describes the outcome in one sentence. */
export function describeReload({ state }: ReloadOutcome): string {
  if (state === 'reloaded') return 'The serving process has read it.';
  if (state === 'not serving') return 'No process serves this store; the change takes effect at the next start.';
  return 'The serving process has not answered in 10 s; its log says whether it has read the configuration.';
}
