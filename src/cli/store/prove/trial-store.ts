// Makes, serves and examines the temporary store of a round.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '#domain/refusal.ts';
import { readArguments } from '../../frame/arguments.ts';
import { Failure, type Command, type CommandResult, type World } from '../../frame/command.ts';
import { init } from '../init.ts';
import { configSet } from '../config/set.ts';
import { demoSnaps } from '../demo/snaps.ts';
import { doctor } from '../doctor.ts';
import { verify } from '../verify.ts';
import { callStore, requestToken, type StoreClient } from './client.ts';
import type { TrialServer, TrialServers } from './processes.ts';
import { findLost, newLedger, publish, type Choose, type Ledger } from './publisher.ts';

/** The parts that every trial uses. */
export interface ProofContext {
  readonly world: World;
  readonly servers: TrialServers;
  readonly choose: Choose;
  readonly signal: AbortSignal;
  readonly figures: ProofFigures;
}

/** The measurements of a proof. */
export interface ProofFigures {
  acknowledged: number;
  loadMs: number;
  /** For each start after a kill. */
  readyMs: number[];
  restoreMs: number[];
}

/** A temporary store that is served. */
export interface TrialStore {
  readonly data: string;
  readonly client: StoreClient & { url: string };
  readonly ledgers: readonly Ledger[];
  /** The checks of doctor that were wrong before any trial. */
  readonly wrongBefore: readonly string[];
  server: TrialServer;
}

export const demoSnap = Buffer.from(demoSnaps[0]!.base64, 'base64');

/** Runs another command of this program on a store, in this process and without its output. */
export async function runCommand(
  { world }: Pick<ProofContext, 'world'>,
  command: Command,
  data: string,
  ...args: string[]
): Promise<CommandResult> {
  const silent = { write: () => true };
  // No variable of this environment may name another store or its keys.
  const apart: World = { ...world, env: {}, stdout: silent, stderr: silent };
  return command.run(readArguments(command, [...args, '--data', data, '--json', '--quiet'], apart));
}

/** Makes a store with packages of four publishers, and serves it. */
export async function makeTrialStore(context: ProofContext, data: string, reserve: string): Promise<TrialStore> {
  context.signal.throwIfAborted();
  mkdirSync(data, { mode: 0o700 });
  await runCommand(context, init, data, '--base-url', 'http://127.0.0.1:8080', '--listen', '127.0.0.1:0');
  await runCommand(context, configSet, data, 'uploads.reserve', reserve);
  await runCommand(context, configSet, data, 'devices.snap', 'true');
  context.signal.throwIfAborted();
  const server = await context.servers.start(data);
  const credential = readFileSync(join(data, 'admin.macaroon'), 'utf8');
  const client = { url: server.url, credential, token: '' };
  client.token = ((await requestToken(client)).body as { macaroon: string }).macaroon;
  const ledgers = [
    newLedger('snap', demoSnaps[0]!.name),
    ...['one', 'two', 'three'].map((name) => newLedger('bin', name)),
  ];
  for (const { namespace, name } of ledgers) {
    const { status, body } = await callStore(client, 'POST', `/v1/${namespace}`, { name });
    if (status !== 200) throw new Error(`the store refused the name ${name}: ${JSON.stringify(body)}`);
  }
  const wrongBefore = await findWrong(context, data);
  return { data, client, ledgers, server, wrongBefore };
}

/** Starts the server again, after a kill or a fault that ended it. */
export async function restart({ servers }: ProofContext, store: TrialStore): Promise<void> {
  await store.server.kill();
  store.server = await servers.start(store.data);
  store.client.url = store.server.url;
}

/** Throws if the server has ended by itself. */
export function requireRunning({ server }: Pick<TrialStore, 'server'>): void {
  if (!server.isRunning()) throw new Error(`the server ended by itself: ${server.describeEnd()}`);
}

/** Publishes with all publishers until `isOver`; `during` runs at the same time and ends it. */
export async function underLoad<Result>(
  { choose, figures, signal }: ProofContext,
  { client, ledgers, server }: Pick<TrialStore, 'client' | 'ledgers' | 'server'>,
  during: () => Promise<Result>,
): Promise<Result> {
  const before = countAcknowledged(ledgers);
  const began = performance.now();
  let isOver = false;
  const work = { choose, snap: demoSnap, isOver: () => isOver || signal.aborted || !server.isRunning() };
  // A copy: a client of the restarted store has another address.
  const all = Promise.all(ledgers.map((ledger) => publish(ledger, { ...client }, work)));
  try {
    return await Promise.race([during(), all.then(() => new Promise<never>(() => undefined))]);
  } finally {
    isOver = true;
    await all;
    figures.acknowledged += countAcknowledged(ledgers) - before;
    figures.loadMs += Math.round(performance.now() - began);
  }
}

const countAcknowledged = (ledgers: readonly Ledger[]): number =>
  ledgers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);

/** Removes and returns the responses with 5xx that the publishers got. */
export const takeServerErrors = (ledgers: readonly Ledger[]): string[] =>
  ledgers.flatMap(({ serverErrors }) => serverErrors.splice(0));

/** Compares all acknowledged changes with the store, and runs the examinations of larder on it; returns the problems. */
export async function examine(context: ProofContext, store: TrialStore): Promise<string[]> {
  context.signal.throwIfAborted();
  const problems: string[] = [];
  for (const ledger of store.ledgers) problems.push(...(await findLost(ledger, store.client)));
  problems.push(...(await verifyData(context, store.data)));
  const wrong = await findNewlyWrong(context, store);
  return [...problems, ...wrong.map((name) => `doctor: ${name}`)];
}

/** The names of the checks of `larder doctor` that are wrong, and were not before the trials. */
export async function findNewlyWrong(
  context: ProofContext,
  { data, wrongBefore }: Pick<TrialStore, 'data' | 'wrongBefore'>,
): Promise<string[]> {
  return (await findWrong(context, data)).filter((name) => !wrongBefore.includes(name));
}

/** The names of the checks of `larder doctor` that are wrong. */
async function findWrong(context: ProofContext, data: string): Promise<string[]> {
  const { json } = await runCommand(context, doctor, data);
  const { findings } = json as { findings: { what: string; level: string }[] };
  return findings.filter(({ level }) => level === 'wrong').map(({ what: name }) => name);
}

export interface VerifyReport {
  good: boolean;
  database: { problems: string[] };
  audit?: { problems: string[] };
  blobs?: { damaged: string[]; unreadable: string[]; missing: string[] };
}

/** Runs `larder verify`. */
export async function readVerdict(context: ProofContext, data: string): Promise<VerifyReport> {
  try {
    return (await runCommand(context, verify, data)).json as VerifyReport;
  } catch (error) {
    if (!isReport(error)) throw error;
    return { good: false, database: { problems: [(error as Error).message] } };
  }
}

/** Whether an error is a sentence for the person at the terminal. */
export const isReport = (error: unknown): boolean => error instanceof Failure || error instanceof Refusal;

/** The problems that `larder verify` names. */
export async function verifyData(context: ProofContext, data: string): Promise<string[]> {
  const { good, database, audit, blobs } = await readVerdict(context, data);
  if (good) return [];
  const contents = [...(blobs?.damaged ?? []), ...(blobs?.unreadable ?? []), ...(blobs?.missing ?? [])];
  return [...database.problems, ...(audit?.problems ?? []), ...contents.map((digest) => `the blob ${digest}`)].map(
    (problem) => `verify: ${problem}`,
  );
}
