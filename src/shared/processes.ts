// The processes that serve a store on one host: what each is called, which of them are no more, and what those held.
import { readFileSync } from 'node:fs';

import type { NewIds } from '#domain/ids.ts';
import type { Records } from '#records/index.ts';

/** What this process is called: its number, and when it began, since numbers come again. No other ever had this name. */
export const processName = (): string => nameOf(process.pid)!;

/** How a holder is called whose lease ends by its time alone, whatever becomes of its process; see removing.ts. */
export const outlivesProcess = 'outlives ';

/** What holds leases and shares here: of several stores that one process opens, each has its own name. */
export const newHolder = ({ uuid }: Pick<NewIds, 'uuid'>): string => `${processName()} ${uuid().slice(0, 8)}`;

/** Whether a process of this host that held something goes on; `holder` begins with its name. */
export function isRunning(holder: string): boolean {
  const name = nameIn(holder);
  return name === nameOf(Number.parseInt(name, 10));
}

/** Whether it is another one than this. */
export const isAnotherRunning = (holder: string): boolean => nameIn(holder) !== processName() && isRunning(holder);

const nameIn = (holder: string): string => holder.split(' ', 1)[0]!;

/**
 * Ends the leases and shares of processes that are no more, and of this one, which starts. Says whether no other process
 * serves the store beside it, or takes something in: then everything that was under way has ended.
 */
export async function succeed(records: Pick<Records, 'leases' | 'shares' | 'passing'>): Promise<{ isAlone: boolean }> {
  const all = [...(await records.leases.holders()), ...(await records.shares.holders())];
  const holders = all.filter((holder) => !holder.startsWith(outlivesProcess));
  const gone = holders.filter((holder) => !isAnotherRunning(holder));
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
 * Says that this process serves beside the one that holds the data directory, which starts again without taking what is
 * this one's; until it is given back.
 */
export async function serveBeside({ passing }: Pick<Records, 'passing'>): Promise<{ end(): Promise<unknown> }> {
  const holder = processName();
  const name = `process ${holder}`;
  await passing(({ leases }) => leases.take(name, holder, { now: '', endsAt: never, tooLate: never }));
  return { end: () => passing(({ leases }) => leases.release(name, holder)) };
}

/** What ends with its process has no other end. */
const never = '9999-12-31T23:59:59.999Z';

/** A process's number and when it began, in ticks since the host did (proc(5), `starttime`); none of one that has ended. */
function nameOf(pid: number): string | undefined {
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
