// larder prove
import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { formatBytes } from '#domain/byte-size.ts';
import { minutes, timestamp } from '#domain/clock.ts';
import { randomBytes } from '#domain/cryptography.ts';
import { createSeededNumbers } from '#domain/seeded-numbers.ts';
import { readConfig } from '#configuration/config.ts';
import { command, Failure, UsageError, type CommandResult } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { withWriteErrors } from '../../frame/outside-files.ts';
import { createProgress, type ProgressReporter } from '../../frame/progress.ts';
import { table } from '../../frame/terminal.ts';
import { tryFaults, tryFullDisk, unmountDisk } from './faults.ts';
import { folderPrefix, forgetProcesses, recordProcess, removeLeftovers } from './leftovers.ts';
import { createTrialServers } from './processes.ts';
import { checkReport, describeTally, writeReport, type ProofResult } from './report.ts';
import { tryRestore } from './restored.ts';
import { countError, isProven, newTallies, type Tallies, type TrialName } from './tally.ts';
import { makeTrialStore, restart, type ProofContext, type TrialStore } from './trial-store.ts';
import { tryFlippedBlob, tryKill } from './trials.ts';

/** Free space that the trials need at most, above the reserve of a store on the same disk. */
const neededBytes = 1024 ** 3;
const killsPerRound = 4;

export const prove = command({
  name: 'prove',
  summary: 'Prove on this machine that a store keeps its promises, and write a signed report.',
  description:
    'Makes temporary stores in a new folder, serves them on free ports of 127.0.0.1, and tries them for some minutes: kills ' +
    'under load, injected faults, flipped bits, a full disk, backup and restore, and changes of the audit log. Each trial ' +
    'has a control that shows that its check notices a fault. Another store may serve on this machine: no file of it is ' +
    'changed, and the trials have the lowest priority. The folder then has report.html, report.json and signed.json, which ' +
    'is signed with the key of the site at --data, or with a key of the run if there is none. Exit code 1 means that ' +
    'something did not hold.',
  options: {
    minutes: {
      type: 'integer',
      value: 'MINUTES',
      minimum: 0,
      maximum: 10_080,
      summary: 'How long to try; each trial runs at least once. Default: 15.',
    },
    folder: {
      type: 'string',
      value: 'FOLDER',
      summary:
        'The new folder for the report and the temporary stores. Default: one beside the data directory, else in TMPDIR.',
    },
    seed: {
      type: 'integer',
      value: 'NUMBER',
      minimum: 0,
      maximum: 4_294_967_295,
      summary: 'Repeat the choices of an earlier run. Default: a random number, which the report names.',
    },
    check: {
      type: 'string',
      value: 'FILE',
      summary: 'Try nothing: check the signature of an earlier report, signed.json, and show its result.',
    },
  },
  examples: [
    'larder prove',
    'larder prove --minutes 60 --folder ./larder-proof',
    'larder prove --check ./larder-proof/signed.json',
  ],

  async run(call) {
    const { options, data, world } = call;
    if (options.check !== undefined) {
      if (options.minutes !== undefined || options.folder !== undefined || options.seed !== undefined)
        throw new UsageError('--check reads a report; leave --minutes, --folder and --seed out');
      return checkReport(resolve(options.check));
    }
    const began = new Date();
    const folder = resolve(options.folder ?? defaultFolder(data, began));
    removeLeftovers(folder);
    refuseFolder(folder, data);
    await withWriteErrors(folder, () => {
      mkdirSync(folder, { mode: 0o700 });
      recordProcess(folder, process.pid);
    });
    world.yieldToOthers?.();
    const seed = options.seed ?? randomBytes(4).readUInt32LE();
    const proof = await interruptible((signal) =>
      runRounds(
        { folder, world, seed, signal, until: began.getTime() + minutes(options.minutes ?? 15) },
        createProgress(call),
      ),
    ).catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
    const result = { ...proof, seed, folder, began: timestamp(began), ended: timestamp(new Date()) };
    return answered(result, await writeReport(result, call));
  },
});

function defaultFolder(data: string, now: Date): string {
  const name = `${folderPrefix}-${timestamp(now).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`;
  const parent = dirname(data);
  return join(existsSync(join(data, 'larder.toml')) && isWritable(parent) ? parent : tmpdir(), name);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Refuses a folder that exists, that is part of a data directory, or that is on a disk with too little free space. */
function refuseFolder(folder: string, data: string): void {
  if (existsSync(folder))
    throw new Failure(`${folder} exists already; name a new folder with --folder`, { code: 'folder-exists' });
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    if (parent === data || existsSync(join(parent, 'larder.toml')))
      throw new Failure(`${parent} is the data directory of a store; name a folder outside of it with --folder`, {
        code: 'in-a-store',
      });
    if (parent === dirname(parent)) break;
  }
  const parent = dirname(folder);
  if (!existsSync(parent))
    throw new Failure(`there is no folder ${parent}; make it, or name another with --folder`, { code: 'no-folder' });
  const { bavail, bsize } = statfsSync(parent);
  const needed = neededBytes + reserveOf(data);
  if (bavail * bsize < needed)
    throw new Failure(
      `${parent} has ${formatBytes(bavail * bsize)} free, and the trials need ${formatBytes(needed)} so that no other ` +
        'store runs out of space; free some, or name a folder on another disk with --folder',
      { code: 'no-space' },
    );
}

/** The free space that a store on this host keeps: it stops uploads there. */
function reserveOf(data: string): number {
  try {
    return readConfig(join(data, 'larder.toml')).uploads.reserve;
  } catch {
    return neededBytes;
  }
}

interface ProofRun extends Pick<ProofContext, 'world' | 'signal'> {
  folder: string;
  seed: number;
  /** When no further trial begins, in milliseconds since the epoch. */
  until: number;
}

/** Runs rounds of all trials, each with a store of its own, until the time is over. */
async function runRounds(
  { folder, world, seed, signal, until }: ProofRun,
  progress: ProgressReporter,
): Promise<Pick<ProofResult, 'tallies' | 'figures' | 'rounds'>> {
  const servers = createTrialServers(world, (pid) => {
    recordProcess(folder, pid);
  });
  const nextNumber = createSeededNumbers(seed);
  const figures = { acknowledged: 0, loadMs: 0, readyMs: [], restoreMs: [] };
  const context: ProofContext = {
    world,
    servers,
    signal,
    figures,
    choose: (limit) => Math.floor(nextNumber() * limit),
  };
  const tallies = newTallies();
  const onAbort = (): void => void servers.killAll();
  signal.addEventListener('abort', onAbort);
  let rounds = 0;
  try {
    do {
      rounds += 1;
      const isOver = (): boolean => rounds > 1 && Date.now() >= until;
      await runRound(context, { folder: join(folder, `round-${String(rounds)}`), tallies, isOver }, (step) => {
        progress.at(`round ${String(rounds)}: ${step}`, 0, 0);
      });
    } while (Date.now() < until);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    progress.end();
  }
  forgetProcesses(folder);
  return { tallies, figures, rounds };
}

interface Round {
  folder: string;
  tallies: Tallies;
  isOver: () => boolean;
}

async function runRound(
  context: ProofContext,
  { folder, tallies, isOver }: Round,
  tell: (step: string) => void,
): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  try {
    const store = await makeTrialStore(context, join(folder, 'store'), '64 MiB');
    for (const [name, times, trial] of trialsOf(context, store, { folder, tallies })) {
      for (let nth = 0; nth < times && !isOver(); nth++) {
        tell(name);
        await trial().catch(async (error: unknown) => {
          context.signal.throwIfAborted();
          countError(tallies[name], error);
          if (store.server.isRunning()) return;
          countError(tallies[name], new Error(`the server has ended: ${store.server.describeEnd()}`));
          await restart(context, store);
        });
      }
    }
  } finally {
    await context.servers.killAll();
    unmountDisk(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The trials of a round, each with the number of times. */
const trialsOf = (
  context: ProofContext,
  store: TrialStore,
  { folder, tallies }: Pick<Round, 'folder' | 'tallies'>,
): readonly (readonly [TrialName, number, () => Promise<void>])[] => [
  ['kills', killsPerRound, () => tryKill(context, store, tallies.kills)],
  ['faults', 1, () => tryFaults(context, store, tallies.faults)],
  ['flipped-bits', 2, () => tryFlippedBlob(context, store, tallies['flipped-bits'])],
  ['restore', 1, () => tryRestore(context, store, { folder, tallies })],
  ['full-disk', 1, () => tryFullDisk(context, folder, tallies['full-disk'])],
];

function answered(
  { tallies, folder, seed, rounds }: ProofResult,
  { document, files, signedBy }: Awaited<ReturnType<typeof writeReport>>,
): CommandResult {
  const rows = Object.entries(tallies).map(([name, tally]) => describeTally(name, tally));
  const good = Object.values(tallies).every(isProven);
  const notes = Object.entries(tallies).flatMap(([name, { problems, notPossible }]) => [
    ...problems.map((problem) => `${name}: ${problem}`),
    ...notPossible.map((reason) => `${name}, not possible here: ${reason}`),
  ]);
  return {
    text: [
      table(['TRIAL', 'TRIED', 'HELD', 'CONTROLS', 'NOTICED'], rows),
      ...notes,
      '',
      good
        ? `Everything held. Rounds: ${String(rounds)}, seed: ${String(seed)}.`
        : 'Something did not hold. Keep the report and the seed, and report it as SECURITY.md says.',
      `The report is in ${folder}: ${files.join(', ')}. ${signedBy}`,
    ].join('\n'),
    json: { ...document, folder },
    exitCode: good ? 0 : 1,
  };
}
