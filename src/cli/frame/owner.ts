// The data directory belongs to one user: commands run as that user, whoever typed them.
import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { shellWord } from '#domain/shell-word.ts';
import { makeFolder } from '#files/durable.ts';
import { readIfThere } from '#files/read.ts';
import { Failure } from './command.ts';

/** What the process may do about its own user; `process` itself, outside of tests. */
export interface Identity {
  getuid?: () => number;
  initgroups?: (user: number, group: number) => void;
  setgroups?: (groups: readonly number[]) => void;
  setgid?: (id: number) => void;
  setuid?: (id: number) => void;
  setegid?: (id: number) => void;
  seteuid?: (id: number) => void;
}

/**
 * Does something with the rights of whoever typed the command: to files outside of the data directory, which its owner
 * need not be able to reach. Nothing else may go on in this process meanwhile.
 */
export type AsCaller = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/**
 * Makes this process, when root runs it, one of the owner of the data directory; refuses anybody else.
 * Comes before anything in the directory is opened, so that nothing in there ever belongs to root.
 */
export function becomeOwner(data: string, identity: Identity = process): void {
  const owner = ownerToBecome(data, identity);
  if (owner === undefined) return;
  takeGroups(owner, identity);
  identity.setgid?.(owner.gid);
  identity.setuid?.(owner.uid);
}

/**
 * The same for a command that also writes where only root may, such as a stick that root has mounted: root's rights are
 * set aside, and taken up again for no longer than one piece of work takes.
 */
export function setRootAside(data: string, identity: Identity = process): AsCaller {
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
 * Makes a data directory that is not there yet, for whoever will serve it, and becomes its owner: where root does it for
 * the system service, that is the service's own user. Whether the directory was made.
 */
export function makeForOwner(data: string, identity: Identity = process): boolean {
  const made = !existsSync(data);
  makeFolder(data);
  const user = identity.getuid?.() === 0 && isServices(data) ? serviceUser() : undefined;
  if (user !== undefined && ownerOf(data).uid === 0) chownSync(data, user.uid, user.gid);
  becomeOwner(data, identity);
  return made;
}

/** What to type in order to serve it: the system service where that is installed and the store is the one it serves. */
export const howToServe = (data: string): string =>
  isServices(data) ? "'systemctl start larder'" : `'larder serve --data ${shellWord(data)}'`;

/** Whether the system service is installed, and the store is the one it serves. */
export const isServices = (data: string): boolean =>
  data === '/var/lib/larder' && existsSync('/usr/lib/systemd/system/larder.service');

/** The user under whom the system service runs; the package has put it into the list of users on this host. */
function serviceUser(): { uid: number; gid: number } | undefined {
  const [, uid, gid] = /^larder:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Whom root has to become; nobody for the owner himself. */
function ownerToBecome(data: string, identity: Identity): { uid: number; gid: number } | undefined {
  const owner = ownerOf(data);
  const user = identity.getuid?.() ?? owner.uid;
  if (user === owner.uid) return undefined;
  if (user === 0) return owner;
  throw new Failure(
    `the store in ${data} belongs to ${userName(owner.uid)}; run this as that user or as root, such as with 'sudo larder …'`,
  );
}

/** What a user is called; by the number if it has no name on this host. */
function userName(uid: number): string {
  const line = readIfThere('/etc/passwd')
    ?.split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return line === undefined ? `the user with id ${String(uid)}` : `the user '${line.split(':')[0]!}'`;
}

/** Comes before the user is changed: without root's rights the groups could be changed no longer. */
function takeGroups({ uid, gid }: { uid: number; gid: number }, identity: Identity): void {
  try {
    identity.initgroups?.(uid, gid);
  } catch {
    // The owner has no entry in the list of users, and so no other groups.
    identity.setgroups?.([gid]);
  }
}

function ownerOf(data: string): { uid: number; gid: number } {
  try {
    const found = statSync(data);
    if (found.isDirectory()) return found;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') throw new Failure(`this user may not look into ${data}; run this as its owner or as root`);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Error(`cannot look at ${data}`, { cause: error });
  }
  throw new Failure(`there is no store in ${data}; 'larder init --data ${shellWord(data)}' makes one`);
}
