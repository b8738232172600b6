// A run: clients work at a store, a nemesis disturbs it, and the checker holds the history against the audit log.
import { setTimeout as sleep } from 'node:timers/promises';

import { ask } from '#test/fixtures/processes/workers.ts';
import { checkHistory } from './checker.ts';
import { RecordingClient } from './client.ts';
import { History, type Observation } from './history.ts';
import { Load, SharedWork } from './load.ts';
import type { LoggedEntry } from './model.ts';
import { seededChoices, type Choices } from './random.ts';

/** A disturbance of the store; resolves when it is over. */
export type Disturbance = (choices: Choices) => Promise<void>;

/** A store under test. */
export interface StoreSetUp {
  urls: readonly string[];
  /** The credential of the store administrator. */
  credential: string;
  readLog(): Promise<LoggedEntry[]>;
  disturbances: Readonly<Record<string, Disturbance>>;
}

export interface RunOptions {
  seed: number;
  durationMs: number;
  clientCount?: number;
  /** Milliseconds between two disturbances, at most. */
  maxCalmMs?: number;
}

export interface RunResult {
  violations: string[];
  /** For a second look at violations. */
  history: { observations: readonly Observation[]; entries: readonly LoggedEntry[] };
  operations: number;
  answered: number;
  entries: number;
  disturbances: Record<string, number>;
}

/** Milliseconds that the reviews may take after the last push. */
const maxReviewMs = 120_000;

export async function runHistory(
  { urls, credential, readLog, disturbances }: StoreSetUp,
  { seed, durationMs, clientCount = 6, maxCalmMs = 3000 }: RunOptions,
): Promise<RunResult> {
  const exchange = { method: 'POST', body: { macaroon: credential } };
  const { body } = await ask(urls[0]!, '/v1/tokens/offline/exchange', exchange);
  const after = (await readLog()).at(-1)?.seq ?? 0;
  const [history, work] = [new History(), new SharedWork(credential, String(body.macaroon), seed)];
  let turn = 0;
  const clients = Array.from({ length: clientCount }, (_, number) => {
    const client = new RecordingClient(history, () => urls[turn++ % urls.length]!);
    return new Load(client, work, seededChoices(seed, number + 1)).run();
  });
  const working = Promise.all(clients);
  // A client that gets an unexpected answer ends the run.
  working.catch(() => (work.isOver = true));
  const how = { choices: seededChoices(seed), durationMs, maxCalmMs, isOver: () => work.isOver };
  const counts = await disturb(disturbances, how).finally(() => (work.isOver = true));
  await working;
  const entries = await readReviewedLog(readLog);
  const neverLast = { prefix: 'upload ', value: 'waiting' };
  return {
    violations: checkHistory(history.observations, entries, { after, neverLast }),
    history: { observations: history.observations, entries },
    operations: history.observations.length,
    answered: history.answeredCount,
    entries: entries.length,
    disturbances: counts,
  };
}

/** Reads the log when every upload has been reviewed, or when the time for that is over. */
async function readReviewedLog(readLog: StoreSetUp['readLog']): Promise<LoggedEntry[]> {
  for (let waitedMs = 0; ; waitedMs += 500) {
    const entries = await readLog();
    const count = (...actions: string[]): number => entries.filter(({ action }) => actions.includes(action)).length;
    if (count('push_revision') === count('approve_upload', 'reject_upload') || waitedMs > maxReviewMs) return entries;
    await sleep(500);
  }
}

interface NemesisOptions {
  choices: Choices;
  durationMs: number;
  /** The longest time between two disturbances. */
  maxCalmMs: number;
  isOver(): boolean;
}

/** Disturbs the store again and again; how often, by the names of the disturbances. */
async function disturb(
  disturbances: StoreSetUp['disturbances'],
  { choices, durationMs, maxCalmMs, isOver }: NemesisOptions,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = Object.keys(disturbances);
  const end = performance.now() + durationMs;
  while (!isOver() && performance.now() < end) {
    const calmMs = choices.between(200, maxCalmMs);
    await sleep(Math.min(calmMs, Math.max(0, end - performance.now())));
    if (isOver() || performance.now() >= end || names.length === 0) continue;
    const name = choices.pick(names);
    await disturbances[name]!(choices);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
