// Makes a command run as the user who owns the data directory, whichever user typed it.
import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { shellWord } from '#domain/shell-word.ts';
import { makeFolder } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';
import { Failure } from './command.ts';

/** The calls that read and change the user of a process; `process` itself, except in tests. */
export interface ProcessIdentity {
  getuid?: () => number;
  initgroups?: (user: number, group: number) => void;
  setgroups?: (groups: readonly number[]) => void;
  setgid?: (id: number) => void;
  setuid?: (id: number) => void;
  setegid?: (id: number) => void;
  seteuid?: (id: number) => void;
}

/**
 * Runs work with the rights of the user who typed the command, for files outside of the data directory that its owner may
 * not be able to access. No other work may run in this process until it ends.
 */
export type AsCaller = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/**
 * If root runs this process, makes it run as the owner of the data directory; refuses any other user. Call it before
 * anything in the directory is opened, so that no file in it ever belongs to root.
 */
export function becomeOwner(data: string, identity: ProcessIdentity = process): void {
  const owner = ownerToBecome(data, identity);
  if (owner === undefined) return;
  takeGroups(owner, identity);
  identity.setgid?.(owner.gid);
  identity.setuid?.(owner.uid);
}

/**
 * Like `becomeOwner`, for a command that also writes where only root may, such as to a stick that root mounted: drops root's
 * rights, and takes them back only while the returned function runs.
 */
export function suspendRoot(data: string, identity: ProcessIdentity = process): AsCaller {
  const owner = ownerToBecome(data, identity);
  if (owner === undefined) return async (work) => work();
  const { uid, gid } = owner;
  const beOwner = (): void => {
    identity.setegid?.(gid);
    identity.seteuid?.(uid);
  };
  takeGroups(owner, identity);
  beOwner();
  return async (work) => {
    // The user first: only root may change the group.
    identity.seteuid?.(0);
    identity.setegid?.(0);
    try {
      return await work();
    } finally {
      beOwner();
    }
  };
}

/**
 * Creates a missing data directory for the user that will serve it, and becomes its owner. If root does it for the system
 * service, that is the service's user. Returns whether the directory was created.
 */
export function makeForOwner(data: string, identity: ProcessIdentity = process): boolean {
  const made = !existsSync(data);
  makeFolder(data);
  const user = identity.getuid?.() === 0 && isServiceDirectory(data) ? serviceUser() : undefined;
  if (user !== undefined && ownerOf(data).uid === 0) chownSync(data, user.uid, user.gid);
  becomeOwner(data, identity);
  return made;
}

/** The command that serves the store: systemctl if the system service is installed and serves this directory. */
export const howToServe = (data: string): string =>
  isServiceDirectory(data) ? "'systemctl start larder'" : `'larder serve --data ${shellWord(data)}'`;

/** Whether the system service is installed and serves this directory. */
export const isServiceDirectory = (data: string): boolean =>
  data === '/var/lib/larder' && existsSync('/usr/lib/systemd/system/larder.service');

/** The user of the system service; the operating system's package adds it to /etc/passwd. */
function serviceUser(): { uid: number; gid: number } | undefined {
  const [, uid, gid] = /^larder:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** The user that root has to become; undefined if this process already runs as the owner. */
function ownerToBecome(data: string, identity: ProcessIdentity): { uid: number; gid: number } | undefined {
  const owner = ownerOf(data);
  const user = identity.getuid?.() ?? owner.uid;
  if (user === owner.uid) return undefined;
  if (user === 0) return owner;
  throw new Failure(
    `the store in ${data} belongs to ${userName(owner.uid)}; run this as that user or as root, such as with 'sudo larder …'`,
  );
}

/** The name of a user on this host, or the id if it has none. */
function userName(uid: number): string {
  const line = readIfPresent('/etc/passwd')
    ?.split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return line === undefined ? `the user with id ${String(uid)}` : `the user '${line.split(':')[0]!}'`;
}

/** Sets the groups. Call it before the user changes: only root may set groups. */
function takeGroups({ uid, gid }: { uid: number; gid: number }, identity: ProcessIdentity): void {
  try {
    identity.initgroups?.(uid, gid);
  } catch {
    // The owner is not in /etc/passwd, and so has no other groups.
    identity.setgroups?.([gid]);
  }
}

function ownerOf(data: string): { uid: number; gid: number } {
  try {
    const stats = statSync(data);
    if (stats.isDirectory()) return stats;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') throw new Failure(`this user may not look into ${data}; run this as its owner or as root`);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Error(`cannot look at ${data}`, { cause: error });
  }
  throw new Failure(`there is no store in ${data}; 'larder init --data ${shellWord(data)}' makes one`);
}
