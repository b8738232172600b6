// A run: clients work at a store, a nemesis disturbs it, and the checker holds the history against the audit log.
import { setTimeout as sleep } from 'node:timers/promises';

import { ask } from '#test/fixtures/processes/workers.ts';
import type { Approver } from './load/approvers.ts';
import { checkHistory } from './checker.ts';
import { RecordingClient } from './client.ts';
import { History, type Observation } from './history.ts';
import { Load } from './load/load.ts';
import type { LoggedEntry } from './model.ts';
import type { PreparedTransfer, RunCommand } from './load/prepared-transfers.ts';
import { seededChoices, type Choices } from './random.ts';
import { SharedWork } from './load/shared-work.ts';
import { Courier } from './load/transfers.ts';

/** A disturbance of the store; resolves when it is over. */
export type Disturbance = (choices: Choices) => Promise<void>;

/** A store under test. */
export interface StoreSetUp {
  urls: readonly string[];
  /** The credential of the store administrator. */
  credential: string;
  approvers: readonly Approver[];
  /** Signed transfers that the store can receive, in the order of their numbers. */
  transfers: readonly PreparedTransfer[];
  runCommand: RunCommand;
  readLog(): Promise<LoggedEntry[]>;
  disturbances: Readonly<Record<string, Disturbance>>;
}

export interface RunOptions {
  seed: number;
  durationMs: number;
  /** By default more clients for more hosts, because each host waits for the others. */
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
  /** How many changes were acknowledged, by their actions. */
  changes: Record<string, number>;
  entries: number;
  disturbances: Record<string, number>;
}

/** Milliseconds that the reviews may take after the last push. */
const maxReviewMs = 120_000;

export async function runHistory(
  setUp: StoreSetUp,
  { seed, durationMs, clientCount = 4 + 4 * setUp.urls.length, maxCalmMs = 3000 }: RunOptions,
): Promise<RunResult> {
  const { urls, credential, readLog, disturbances } = setUp;
  const exchange = { method: 'POST', body: { macaroon: credential } };
  const { body } = await ask(urls[0]!, '/v1/tokens/offline/exchange', exchange);
  const after = (await readLog()).at(-1)?.seq ?? 0;
  const [history, work] = [new History(), new SharedWork(setUp, String(body.macaroon), seed)];
  let turn = 0;
  const newClient = (): RecordingClient => new RecordingClient(history, () => urls[turn++ % urls.length]!);
  const clients = Array.from({ length: clientCount }, (_, number) =>
    new Load(newClient(), work, seededChoices(seed, number + 1)).run(),
  );
  const courier = new Courier(history, setUp.runCommand, { client: newClient(), work });
  const working = Promise.all([...clients, courier.run(pauseOfCourierMs(setUp, durationMs))]);
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
    changes: countChanges(history.observations),
    entries: entries.length,
    disturbances: counts,
  };
}

/** The pause of the courier: the transfers last for the whole run. */
const pauseOfCourierMs = ({ transfers }: StoreSetUp, durationMs: number): number =>
  Math.max(1000, durationMs / (3 * transfers.length) - 1500);

function countChanges(observations: readonly Observation[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, change } of observations)
    if (outcome === 'done' && change !== undefined) counts[change.action] = (counts[change.action] ?? 0) + 1;
  return counts;
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
