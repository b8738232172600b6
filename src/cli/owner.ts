// The data directory belongs to one user: commands run as that user, whoever typed them.
import { statSync } from 'node:fs';
import { Failure } from './command.ts';

/** What the process may do about its own user; `process` itself, outside of tests. */
export interface Identity {
  getuid?: () => number;
  initgroups?: (user: number, group: number) => void;
  setgroups?: (groups: readonly number[]) => void;
  setgid?: (id: number) => void;
  setuid?: (id: number) => void;
}

/**
 * Makes this process, when root runs it, one of the owner of the data directory; refuses anybody else.
 * Comes before anything in the directory is opened, so that nothing in there ever belongs to root.
 */
export function becomeOwner(data: string, identity: Identity = process): void {
  const { uid, gid } = ownerOf(data);
  const user = identity.getuid?.() ?? uid;
  if (user === uid) return;
  if (user !== 0) {
    throw new Failure(
      `the store in ${data} belongs to the user with id ${String(uid)}; run this as that user or as root`,
    );
  }
  // Groups first: without root's rights they could no longer be changed.
  try {
    identity.initgroups?.(uid, gid);
  } catch {
    // The owner has no entry in the list of users, and so no other groups.
    identity.setgroups?.([gid]);
  }
  identity.setgid?.(gid);
  identity.setuid?.(uid);
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
  throw new Failure(`there is no store in ${data}; 'larder init --data ${data}' makes one`);
}
