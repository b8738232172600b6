// Stores of one host: one process, or several workers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { changeConfig } from '#configuration/config.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { dataFolder, larder, serve, type Served } from '#test/fixtures/processes/served.ts';
import { serveByWorkers } from '#test/fixtures/processes/workers.ts';
import { fill, smallDisk } from '#test/fixtures/small-disk.ts';
import { until } from '#test/fixtures/until.ts';
import { approvalRules, approverOptions, setUpApprovers, type ApproverHandout } from './load/approvers.ts';
import type { LoggedEntry } from './model.ts';
import { prepareTransfers, trustRoots, trustSource, type RunCommand } from './load/prepared-transfers.ts';
import type { Disturbance, StoreSetUp } from './run.ts';

interface Test {
  teardown(work: () => unknown): void;
}

/** The longest pause of a stopped process in milliseconds: longer than a lease in the long lane. */
const maxStopMs = process.env['LARDER_LONG'] === '1' ? 90_000 : 4_000;

/** Lets a process stand still. */
export async function pauseProcess(pid: number, milliseconds: number): Promise<void> {
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(milliseconds);
    process.kill(pid, 'SIGCONT');
  } catch {
    // It ended in between.
  }
}

/** Some milliseconds for a pause: mostly short ones. */
export const pauseLength: (choices: Parameters<Disturbance>[0]) => number = (choices) =>
  choices.below(8) === 0 ? choices.between(1000, maxStopMs) : choices.between(50, 1500);

/** The part of larder's entries that the model knows, from the columns of the table. */
export const toEntry = (
  row: Record<'action' | 'object' | 'actor' | 'details', string> & Record<string, unknown>,
): LoggedEntry => ({
  seq: Number(row['seq']),
  action: row.action,
  object: row.object,
  actor: row.actor,
  requestId: row['requestId'] as string | null,
  details: JSON.parse(row.details) as Record<string, unknown>,
  outcome: (row['outcome'] ?? 'done') as 'done' | 'refused',
});

export const logQuery =
  'SELECT seq, action, object, actor, request_id AS "requestId", details, outcome FROM audit ORDER BY seq';

async function readFileLog(data: string): Promise<LoggedEntry[]> {
  const db = new SQLite(join(data, 'larder.db'), { readonly: true });
  try {
    return db
      .prepare(logQuery)
      .all()
      .map((row) => toEntry(row as Parameters<typeof toEntry>[0]));
  } finally {
    db.close();
  }
}

/** Has the processes that are started from now on read their clock's shift from files in a folder; how to set one. */
export function shiftClocks(t: Test): (host: string) => Disturbance {
  const folder = mkdtempSync(join(tmpdir(), 'larder-clocks-'));
  process.env['LARDER_CLOCK'] = folder;
  process.env['LARDER_PRELOAD'] = join(import.meta.dirname, 'shifted-clock.ts');
  t.teardown(() => {
    delete process.env['LARDER_CLOCK'];
    delete process.env['LARDER_PRELOAD'];
    rmSync(folder, { recursive: true });
  });
  // Up to 3 s forward or back, and right again until the time has passed that processes may have seen.
  return (host) => async (choices) => {
    const shiftMs = choices.between(-3000, 3000);
    writeFileSync(join(folder, host), String(shiftMs));
    await sleep(choices.between(200, 2000));
    writeFileSync(join(folder, host), '0');
    await sleep(Math.abs(shiftMs));
  };
}

/** A data directory on a small disk of its own, if this user may mount one. */
async function makeStore(t: Test) {
  // Besides the ballast of 64 MiB each process claims as much for its uploads.
  const disk = smallDisk(t, '512m');
  const data = disk === undefined ? dataFolder(t) : join(disk, 'data');
  const made = (await larder('init', '--data', data, ...approverOptions)) as Record<string, string> & {
    approvers: ApproverHandout[];
  };
  const file = join(data, 'larder.toml');
  // The default would leave nothing of the small disk for uploads.
  changeConfig(file, { 'uploads.reserve': '16 MiB' });
  const source = await prepareTransfers(t);
  trustRoots(data, source);
  const runCommand: RunCommand = (...args) => larder(...args, '--data', data);
  await trustSource(runCommand, source);
  // From now on trust in a source would need approvals too.
  changeConfig(file, { 'approvals.releases': approvalRules(made.approvers) });
  const credential = readFileSync(made['admin-macaroon-file'] ?? '', 'utf8');
  const clock = shiftClocks(t)(hostname());
  const fillDisk: Disturbance = async (choices) => {
    const filler = fill(disk!);
    await sleep(choices.between(200, 1500));
    rmSync(filler);
  };
  const disturbances = { clock, ...(disk !== undefined && { disk: fillDisk }) };
  const { approvers } = made;
  const shared = { credential, runCommand, transfers: source.transfers, readLog: () => readFileLog(data) };
  return { data, approvers, shared, disturbances, listen: `127.0.0.1:${await freePort()}` };
}

/** A store that one process serves. */
export async function startOneProcess(t: Test): Promise<StoreSetUp & { log(): string }> {
  const { data, approvers, shared, disturbances, listen } = await makeStore(t);
  let served: Served = await serve(data, listen);
  t.teardown(() => kill(served.process));
  return {
    ...shared,
    urls: [served.url],
    approvers: await setUpApprovers(approvers, served.url),
    log: () => served.log(),
    disturbances: {
      ...disturbances,
      async kill() {
        await kill(served.process);
        served = await serve(data, listen);
      },
      pause: (choices) => pauseProcess(served.process.pid!, pauseLength(choices)),
      async stop() {
        await served.stop();
        served = await serve(data, listen);
      },
    },
  };
}

/** A store that two workers serve. */
export async function startTwoWorkers(t: Test): Promise<StoreSetUp & { log(): string }> {
  const { data, approvers, shared, disturbances, listen } = await makeStore(t);
  const workers = await serveByWorkers(t, data, 2, listen);
  const pids = (): number[] => [...workers.pids().values()];
  // Workers that end soon one after the other would be taken for workers that cannot serve at all.
  let lastKills: number[] = [];
  return {
    ...shared,
    urls: [workers.url],
    approvers: await setUpApprovers(approvers, workers.url),
    log: () => workers.log(),
    disturbances: {
      ...disturbances,
      async kill(choices) {
        lastKills = [...lastKills, performance.now()].slice(-3);
        if (lastKills.length === 3) await sleep(Math.max(0, 5500 - (performance.now() - lastKills[0]!)));
        const victim = choices.pick(pids());
        if (choices.below(2) === 0) await pauseProcess(victim, choices.between(20, 120));
        process.kill(victim, 'SIGKILL');
        await until(() => !pids().includes(victim));
        await workers.serving(2);
      },
      pause: (choices) => pauseProcess(choices.pick(pids()), pauseLength(choices)),
    },
  };
}
