// The trials with faults of the system: a full disk, a limit of file sizes, no descriptors, a folder that cannot be written.
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { minutes } from '#domain/clock.ts';
import { callStore, ConnectionCut, uploadContent } from './client.ts';
import { findLost } from './publisher.ts';
import { countOpenFiles, runProgram, setLimit, whyNoLimits } from './processes.ts';
import { countAttempt, countControl, countImpossible, type TrialTally } from './tally.ts';
import {
  examine,
  findNewlyWrong,
  makeTrialStore,
  restart,
  takeServerErrors,
  underLoad,
  type ProofContext,
  type TrialStore,
} from './trial-store.ts';

interface InjectedFault {
  readonly name: string;
  /** Why the system or the user does not allow it; undefined if it does. */
  whyImpossible(): string | undefined;
  /** Begins the fault; returns a function that ends it. */
  begin(store: TrialStore): () => void;
}

const isRoot = (): boolean => process.getuid?.() === 0;
const MiB = 1024 * 1024;

const faults: readonly InjectedFault[] = [
  {
    name: 'files may not grow',
    whyImpossible: whyNoLimits,
    begin({ server: { pid } }) {
      setLimit(pid, 'fsize', '8192');
      return () => {
        setLimit(pid, 'fsize', 'unlimited');
      };
    },
  },
  {
    name: 'no descriptors left',
    whyImpossible: whyNoLimits,
    begin({ server: { pid } }) {
      const { limit, open } = countOpenFiles(pid);
      setLimit(pid, 'nofile', String(open + 2));
      return () => {
        setLimit(pid, 'nofile', limit);
      };
    },
  },
  {
    name: 'the folder for uploads cannot be written',
    whyImpossible: () =>
      isRoot()
        ? 'root may write to every folder: run the command as another user to try a folder that cannot be written'
        : undefined,
    begin({ data }) {
      const folder = join(data, 'blobs/tmp');
      chmodSync(folder, 0o500);
      return () => {
        chmodSync(folder, 0o700);
      };
    },
  },
];

/** Injects each fault that is possible here while publishers work. */
export async function tryFaults(context: ProofContext, store: TrialStore, tally: TrialTally): Promise<void> {
  for (const { name, whyImpossible, begin } of faults) {
    const reason = whyImpossible();
    if (reason !== undefined) {
      countImpossible(tally, `${name}: ${reason}`);
      continue;
    }
    countAttempt(tally, name, await tryFault(context, store, { tally, begin: () => begin(store) }));
  }
}

interface TriedFault {
  /** Begins the fault; returns a function that ends it. */
  readonly begin: () => () => void;
  /** Makes the fault as bad as at its beginning. */
  readonly renew?: () => void;
  /** The response that one of the publishers must get, without its end. */
  readonly mustAnswer?: string;
}

/** Publishes during a fault and after it; returns the problems. */
async function tryFault(
  context: ProofContext,
  store: TrialStore,
  { tally, begin, renew, mustAnswer }: TriedFault & { tally: TrialTally },
): Promise<string[]> {
  const problems: string[] = [];
  let refused: string | undefined;
  const errors = await underLoad(context, store, async () => {
    const end = begin();
    try {
      refused = await registerUntilRefused(context, store, renew);
    } finally {
      if (store.server.isRunning()) end();
    }
    return takeServerErrors(store.ledgers);
  });
  takeServerErrors(store.ledgers);
  if (refused === undefined) problems.push('the fault had no effect: no request failed');
  if (mustAnswer !== undefined && !errors.some((response) => response.startsWith(mustAnswer)))
    problems.push(`no request was answered with ${mustAnswer}`);
  problems.push(...(await findUnavailable(context, store)), ...(await examine(context, store)));
  if (refused !== undefined) await controlRefused(store, refused, tally);
  return problems;
}

/** A slow host takes long for a request, and a proof that ends too early says that the store is broken. */
const faultTimeoutMs = minutes(2);

/** Uploads and registers names until the store does not acknowledge one; returns its name. */
async function registerUntilRefused(
  { signal }: ProofContext,
  { client, server, ledgers }: TrialStore,
  renew?: () => void,
): Promise<string | undefined> {
  const deadline = performance.now() + faultTimeoutMs;
  for (let nth = 0; performance.now() < deadline && server.isRunning(); nth++) {
    signal.throwIfAborted();
    renew?.();
    const name = `refused-${String(nth)}-${String(Date.now())}`;
    const content = new Uint8Array(64 * 1024).fill(nth);
    const requests = [uploadContent(client, content), callStore(client, 'POST', '/v1/bin', { name })] as const;
    const [sent, registered] = await Promise.all(requests.map((request) => request.catch(toCut)));
    if (registered !== undefined && registered.status < 300) {
      ledgers[0]!.names.set(name, (registered.body as { id: string }).id);
      // The fault may concern uploads only: then the name that was never asked for is the control.
      if (sent === undefined || sent.status >= 500) return `${name}-not-sent`;
    } else if (registered !== undefined && registered.status >= 500) return name;
    await sleep(10);
  }
  return server.isRunning() ? undefined : 'never-acknowledged';
}

const toCut = (error: unknown): undefined => {
  if (!(error instanceof ConnectionCut)) throw error;
};

/**
 * Waits until the store works again and says so: a job that failed runs again some seconds later. A store that could not keep its word
 * has ended; a service manager starts it again.
 */
async function findUnavailable(context: ProofContext, store: TrialStore): Promise<string[]> {
  const deadline = performance.now() + faultTimeoutMs;
  let [status, successes]: [number | undefined, number] = [undefined, 0];
  while (performance.now() < deadline) {
    if (!store.server.isRunning()) await restart(context, store);
    const content = new Uint8Array(Buffer.from(`after the fault ${String(Date.now())}`));
    status = (await uploadContent(store.client, content).catch(toCut))?.status;
    successes = status === 200 ? successes + 1 : 0;
    // The end of a store comes some time after the failure that causes it.
    if (successes >= 10 && (await findNewlyWrong(context, store)).length === 0) return [];
    await sleep(100);
  }
  // The examination reports the checks of doctor that are still wrong.
  if (successes >= 10) return [];
  return [`the store still answers ${String(status)} after the end of the fault`];
}

/** Takes a name that the store refused for an acknowledged one: the check must report it as lost. */
async function controlRefused({ client, ledgers }: TrialStore, name: string, tally: TrialTally): Promise<void> {
  const ledger = ledgers[0]!;
  ledger.names.set(name, 'never-acknowledged');
  const lost = await findLost(ledger, client);
  countControl(
    tally,
    `the check had to report a refused change as lost, and reported: ${lost.join('; ')}`,
    lost.length === 1 && lost[0]!.includes(name),
  );
  ledger.names.delete(name);
}

/** Fills a small disk of its own with a store on it. Only root may mount one. */
export async function tryFullDisk(context: ProofContext, folder: string, tally: TrialTally): Promise<void> {
  const disk = join(folder, 'disk');
  mkdirSync(disk, { mode: 0o700 });
  const reason = isRoot()
    ? runProgram('mount', ['-t', 'tmpfs', '-o', 'size=224m,mode=0700', 'larder-prove', disk])
    : 'only root may mount a small disk; the trial of faults stops the growth of files instead';
  if (reason !== undefined) {
    countImpossible(tally, reason);
    return;
  }
  const store = await makeTrialStore(context, join(disk, 'store'), '1 MiB');
  // The reserve of 64 MiB that the store gives up on a full disk.
  while (!existsSync(join(store.data, 'blobs/ballast'))) {
    context.signal.throwIfAborted();
    await sleep(20);
  }
  const filler = join(disk, 'filler');
  // The store may give up its reserve for the change of a publisher, and the disk is full no longer.
  const renew = (): void => {
    fill(filler);
  };
  const begin = (): (() => void) => {
    renew();
    return () => {
      rmSync(filler);
    };
  };
  const problems = await tryFault(context, store, { tally, begin, renew, mustAnswer: '507' });
  countAttempt(tally, 'disk filled to the last block', problems);
  await store.server.stop();
  unmountDisk(folder);
}

/** Fills the disk of the trial to its last block. */
function fill(file: string): void {
  for (const piece of [MiB, 4096]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(piece, 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** Removes the small disk of a round, if there is one. */
export function unmountDisk(folder: string): void {
  const disk = join(folder, 'disk');
  if (isRoot() && existsSync(disk)) runProgram('umount', ['-l', disk]);
}
