// The processes that serve a store: what each is called, which of them are no more, and what those held. Those of this host are
// looked for here; those of other hosts, where the records lie on a server, say several times a minute that they go on.
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Records } from '#records/index.ts';

/** What this process is called: its number, when it began, since numbers come again, and its host. No other ever had this name. */
export const processName = (): string => `${nameHere(process.pid)!}@${hostName()}`;

/** How a holder is called whose lease ends by its time alone, whatever becomes of its process; see removing.ts. */
export const outlivesProcess = 'outlives ';

/** What holds leases and shares here: of several stores that one process opens, each has its own name. */
export const newHolder = ({ uuid }: Pick<NewIds, 'uuid'>): string => `${processName()} ${uuid().slice(0, 8)}`;

/** Whether a process that held something is one of this host; `holder` begins with its name. */
export function isHere(holder: string): boolean {
  const [, host] = nameIn(holder).split('@');
  // Earlier releases had one host and said nothing of it.
  return host === undefined || host === hostName();
}

/** The name of the host of a process, for people. */
const hostOf = (holder: string): string =>
  nameIn(holder)
    .replace(/^[^@]*@?/, '')
    .replace(/~[^~]*$/, '');

/** Whether a process of this host that held something goes on. */
export function isRunning(holder: string): boolean {
  if (!isHere(holder)) return false;
  const [name = ''] = nameIn(holder).split('@');
  return name === nameHere(Number.parseInt(name, 10));
}

/** Tells of each of those who hold something whether its process goes on. */
export async function living(
  { leases }: Pick<Records, 'leases'>,
  holders: readonly string[],
  now: Now,
): Promise<(holder: string) => boolean> {
  // Nobody is asked where all are of this host, as they are wherever the records are a file.
  const others = holders.every(isHere) ? undefined : new Set(await elsewhere({ leases }, now));
  return (holder) => isRunning(holder) || others?.has(nameIn(holder)) === true;
}

/** The processes of other hosts that go on. */
const elsewhere = async ({ leases }: Pick<Records, 'leases'>, now: Now): Promise<string[]> =>
  (await leases.processes(timestamp(now()))).filter((holder) => !isHere(holder));

/** The hosts of those, as people call them, in order. */
export const otherHosts = async (records: Pick<Records, 'leases'>, now: Now): Promise<string[]> =>
  hostsOf(await elsewhere(records, now));

/** The other hosts among those of processes. */
const hostsOf = (holders: readonly string[]): string[] =>
  [...new Set(holders.filter((holder) => !isHere(holder)).map(hostOf))].sort();

const nameIn = (holder: string): string => holder.split(' ', 1)[0]!;

/**
 * Ends the leases and shares of processes that are no more, and of this one, which starts. Says whether no other process
 * serves the store beside it, or takes something in: then everything that was under way has ended.
 */
export async function succeed(
  records: Pick<Records, 'leases' | 'shares' | 'passing'>,
  now: Now,
): Promise<{ isAlone: boolean }> {
  const all = [...(await records.leases.holders()), ...(await records.shares.holders())];
  const holders = all.filter((holder) => !holder.startsWith(outlivesProcess));
  const goesOn = await living(records, holders, now);
  const own = processName();
  const gone = holders.filter((holder) => nameIn(holder) === own || !goesOn(holder));
  if (gone.length > 0) {
    await records.passing(async ({ leases, shares }) => {
      for (const holder of gone) {
        await leases.releaseAll(holder);
        await shares.releaseAll(holder);
      }
    });
  }
  return { isAlone: gone.length === holders.length };
}

/**
 * Says that this process goes on, until it is given back: to those that start on this host and must not take what is its own,
 * and again and again to those of other hosts, where the records are such that there may be any. One that could not say so for
 * so long that it was taken for one that is no more says it again only if it `mayReturn` beside the hosts that serve now.
 */
export async function serveBeside(
  { passing, server }: Pick<Records, 'passing'> & { readonly server?: object | undefined },
  now: Now,
  { mayReturn = () => true, pause = silence / 4 }: { mayReturn?: (others: string[]) => boolean; pause?: number } = {},
): Promise<{ end(): Promise<unknown> }> {
  const holder = processName();
  const name = `process ${holder}`;
  const say = (isFirst = false): Promise<boolean> =>
    passing(async ({ leases }) => {
      const moment = now();
      const at = timestamp(moment);
      const going = await leases.processes(at);
      if (!isFirst && !going.includes(holder) && !mayReturn(hostsOf(going))) return false;
      const endsAt = server === undefined ? never : timestamp(after(moment, silence));
      return leases.take(name, holder, { now: at, endsAt, tooLate: never });
    });
  await say(true);
  const sayAgain = async (): Promise<void> => {
    // Whoever comes back is to know soon whether somebody has come in its place.
    const isSaid = await say().catch(() => undefined);
    if (isSaid !== false && !ended) sayIn(isSaid === undefined ? Math.min(pause, seconds(1)) : pause);
  };
  let saying: NodeJS.Timeout | undefined;
  let ended = false;
  const sayIn = (wait: number): void => {
    saying = setTimeout(() => void sayAgain(), wait).unref();
  };
  if (server !== undefined) sayIn(pause);
  return {
    end: () => {
      ended = true;
      clearTimeout(saying);
      return passing(({ leases }) => leases.release(name, holder));
    },
  };
}

/** A process of another host that has said nothing for so long is no more. */
const silence = seconds(60);

/** What ends with its process has no other end. */
const never = '9999-12-31T23:59:59.999Z';

/** A process's number and when it began, in ticks since the host did (proc(5), `starttime`); none of one that has ended. */
function nameHere(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name, in brackets, and may have spaces and brackets in it.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    // One that has ended stays in the list until whoever started it has heard of that.
    return fields[0] === 'Z' ? undefined : `${pid}.${fields[19]!}`;
  } catch {
    return undefined;
  }
}

let host: string | undefined;

/**
 * What this host is called here: by what tells machines apart (machine-id(5)), by its name, which containers have of their own, and by whose
 * process numbers these are.
 */
export function hostName(): string {
  const known = [
    whatIs(() => readFileSync('/etc/machine-id', 'latin1')),
    hostname(),
    whatIs(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n');
  host ??= `${hostname().replace(/[^\w.-]/g, '_')}~${createHash('sha256').update(known).digest('hex').slice(0, 12)}`;
  return host;
}

/** Not every place has each of them: a container has no machine-id of its own, and some have no /proc. */
function whatIs(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
