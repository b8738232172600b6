// The processes that serve a store: their names, which of them have ended, and the cleanup of their leases. Processes
// of this host are checked directly. Those of other hosts, on a shared database, send a heartbeat several times a
// minute.
import { createDigest } from '#domain/cryptography.ts';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { StoreRecords } from '#records/index.ts';

/**
 * The name of a running process, by default of this one: its number, its start time (because numbers are reused) and
 * its host. It is unique over time.
 */
export const processName = (pid = process.pid): string => `${localProcessName(pid) ?? ''}@${hostName()}`;

/**
 * Prefix of the holder of a lease that stays until it expires. Other leases are released when their process has ended. See
 * exclusive-removal.ts.
 */
export const outlivesProcess = 'outlives ';

/** A holder of leases and shares in this process. Each store that the process opens has its own. */
export const newHolder = ({ uuid }: Pick<NewIds, 'uuid'>): string => `${processName()} ${uuid().slice(0, 8)}`;

/** Whether a holder's process is on this host. `holder` begins with the name of the process. */
export function isOnThisHost(holder: string): boolean {
  const [, host] = nameIn(holder).split('@');
  // Names from earlier releases have no host, because these supported only one.
  return host === undefined || host === hostName();
}

/** The name of a process's host, for people. */
const hostOf = (holder: string): string =>
  nameIn(holder)
    .replace(/^[^@]*@?/, '')
    .replace(/~[^~]*$/, '');

/** Whether a holder's process is on this host and running. */
export function isRunning(holder: string): boolean {
  if (!isOnThisHost(holder)) return false;
  const [name = ''] = nameIn(holder).split('@');
  return name === localProcessName(Number.parseInt(name, 10));
}

/** Returns a function that tells whether a holder's process is running. */
export async function createLivenessCheck(
  { leases }: Pick<StoreRecords, 'leases'>,
  holders: readonly string[],
  now: Now,
): Promise<(holder: string) => boolean> {
  // Skips the query if all are on this host, as they always are if the records are in a file.
  const others = holders.every(isOnThisHost) ? undefined : new Set(await listOnOtherHosts({ leases }, now));
  return (holder) => isRunning(holder) || others?.has(nameIn(holder)) === true;
}

/** The running processes of other hosts. */
const listOnOtherHosts = async ({ leases }: Pick<StoreRecords, 'leases'>, now: Now): Promise<string[]> =>
  (await leases.processes(timestamp(now()))).filter((holder) => !isOnThisHost(holder));

/** The names of the other hosts with running processes, sorted. */
export const otherHosts = async (records: Pick<StoreRecords, 'leases'>, now: Now): Promise<string[]> =>
  otherHostsOf(await listOnOtherHosts(records, now));

/** The other hosts in a list of processes. */
const otherHostsOf = (holders: readonly string[]): string[] =>
  [...new Set(holders.filter((holder) => !isOnThisHost(holder)).map(hostOf))].sort();

const nameIn = (holder: string): string => holder.split(' ', 1)[0]!;

/**
 * Ends the leases and shares of processes that have ended, and of this process, which is starting. Returns whether no
 * other process serves the store or receives content for it: then all work that was in progress has ended.
 */
export async function endDeadProcesses(
  records: Pick<StoreRecords, 'leases' | 'shares' | 'ephemeral'>,
  now: Now,
): Promise<{ isAlone: boolean }> {
  const { holders, others } = await holdersOf(records, now);
  const gone = holders.filter((holder) => !others.includes(holder));
  if (gone.length > 0) {
    await records.ephemeral(async ({ leases, shares }) => {
      for (const holder of gone) {
        await leases.releaseAll(holder);
        await shares.releaseAll(holder);
      }
    });
  }
  return { isAlone: others.length === 0 };
}

/** Whether no other process serves the store or receives content for it. */
export const isAloneNow = async (records: Pick<StoreRecords, 'leases' | 'shares'>, now: Now): Promise<boolean> =>
  (await holdersOf(records, now)).others.length === 0;

/** The holders of leases and shares that end with their process, and those of other running processes. */
async function holdersOf(
  records: Pick<StoreRecords, 'leases' | 'shares'>,
  now: Now,
): Promise<{ holders: string[]; others: string[] }> {
  const all = [...(await records.leases.holders()), ...(await records.shares.holders())];
  const holders = all.filter((holder) => !holder.startsWith(outlivesProcess));
  const isLive = await createLivenessCheck(records, holders, now);
  const own = processName();
  return { holders, others: holders.filter((holder) => nameIn(holder) !== own && isLive(holder)) };
}

/**
 * Registers this process as running, until `end`. Local processes check it at start; on a shared database it is renewed
 * as a heartbeat. If the renewal fails for 60 s, other hosts treat the process as ended. It then calls `mayReturn` with
 * the hosts that serve now, and registers again only if that returns true.
 */
export async function registerProcess(
  { ephemeral, server }: Pick<StoreRecords, 'ephemeral'> & { readonly server?: object | undefined },
  now: Now,
  {
    mayReturn = () => true,
    pause = heartbeatTimeoutMs / 4,
  }: { mayReturn?: (others: string[]) => boolean; pause?: number } = {},
): Promise<{ end(): Promise<unknown> }> {
  const holder = processName();
  const name = `process ${holder}`;
  const sendHeartbeat = (isFirst = false): Promise<boolean> =>
    ephemeral(async ({ leases }) => {
      const moment = now();
      const at = timestamp(moment);
      const going = await leases.processes(at);
      if (!isFirst && !going.includes(holder) && !mayReturn(otherHostsOf(going))) return false;
      const endsAt = server === undefined ? never : timestamp(after(moment, heartbeatTimeoutMs));
      return leases.take(name, holder, { now: at, endsAt, tooLate: never });
    });
  await sendHeartbeat(true);
  const renewHeartbeat = async (): Promise<void> => {
    // After a failed renewal, retry soon, so that the process learns quickly whether another has replaced it.
    const isRenewed = await sendHeartbeat().catch(() => undefined);
    if (isRenewed !== false && !ended) scheduleHeartbeat(isRenewed === undefined ? Math.min(pause, seconds(1)) : pause);
  };
  let heartbeatTimer: NodeJS.Timeout | undefined;
  let ended = false;
  const scheduleHeartbeat = (wait: number): void => {
    heartbeatTimer = setTimeout(() => void renewHeartbeat(), wait).unref();
  };
  if (server !== undefined) scheduleHeartbeat(pause);
  return {
    end: () => {
      ended = true;
      clearTimeout(heartbeatTimer);
      return ephemeral(({ leases }) => leases.release(name, holder));
    },
  };
}

/** A process of another host counts as ended after this time without a heartbeat. */
const heartbeatTimeoutMs = seconds(60);

/** The end of an entry that is valid until its process ends. */
const never = '9999-12-31T23:59:59.999Z';

/** A process's number and its start time in ticks since boot (proc(5), `starttime`); undefined if it has ended. */
function localProcessName(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in brackets, and may contain spaces and brackets.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    // An ended process stays in the list as a zombie until its parent collects its status.
    return fields[0] === 'Z' ? undefined : `${pid}.${fields[19]!}`;
  } catch {
    return undefined;
  }
}

let host: string | undefined;

/**
 * The name of this host in the records. It is made from the machine id (machine-id(5)), the host name, which differs
 * between containers, and the namespace of process numbers.
 */
export function hostName(): string {
  const machineIdentity = [
    readOrEmpty(() => readFileSync('/etc/machine-id', 'latin1')),
    hostname(),
    readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n');
  host ??= `${hostname().replace(/[^\w.-]/g, '_')}~${createDigest('cache').update(machineIdentity).digest('hex').slice(0, 12)}`;
  return host;
}

/** Returns an empty text if the read fails: a container has no machine-id of its own, and some hosts have no /proc. */
function readOrEmpty(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
