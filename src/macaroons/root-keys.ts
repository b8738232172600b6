// Root keys: what the store's tokens are signed with. Sealed under the site key, and changed every few days;
// an old one goes on verifying until the last token that it signed has ended.
import { randomBytes } from 'node:crypto';

import { after, days, timestamp } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import { seal, unseal } from './sealing.ts';

export interface RootKey {
  id: string;
  key: Buffer;
}

export interface RootKeyOptions {
  records: Records;
  siteKey: Buffer;
  newId: NewIds;
  /** The latest time that was seen. */
  clock: () => Date;
  /** After how many days new tokens are signed with a new key. */
  life: () => number;
}

export interface RootKeys {
  /** The key for new tokens: the newest, or a new one when that has served its days. */
  current(): Promise<RootKey>;
  /**
   * A key that a token names, if there ever was such a key. It may have been deleted since:
   * whoever lets a token in also sees its session, which ends with its key.
   */
  find(id: string): Promise<RootKey | undefined>;
  /** Makes a new key now; the old ones go on verifying. */
  rotate(entry: Pick<AuditEntry, 'actor' | 'action'>): Promise<{ id: string; createdAt: string }>;
}

export function createRootKeys({ records, siteKey, newId, clock, life }: RootKeyOptions): RootKeys {
  const opened = new Map<string, RootKey>();

  const open = ({ id, sealed }: { id: string; sealed: string }): RootKey => {
    let key = opened.get(id);
    if (key === undefined) {
      key = { id, key: unseal(siteKey, sealed, purposeOf(id)) };
      if (opened.size >= 1000) opened.clear();
      opened.set(id, key);
    }
    return key;
  };

  const serves = (key: { createdAt: string }): boolean => Date.parse(key.createdAt) > clock().getTime() - days(life());

  const add = async (entry: Pick<AuditEntry, 'actor' | 'action'>, onlyIfDue: boolean) => {
    const at = timestamp(clock());
    return records.change({ ...entry, at, object: 'root-keys' }, async (tx, note) => {
      const newest = await tx.rootKeys.newest();
      // Another process, or another request, may have been quicker.
      if (onlyIfDue && newest !== undefined && serves(newest)) {
        note({ kept: newest.id });
        return newest;
      }
      const id = newId.uuid();
      // Later than the key before it, however quickly they follow each other: the newest is the one in use.
      const createdAt =
        newest === undefined || newest.createdAt < at ? at : timestamp(after(new Date(newest.createdAt), 1));
      const made = { id, sealed: seal(siteKey, randomBytes(32), purposeOf(id)), createdAt };
      await tx.rootKeys.add(made);
      note({ id });
      return made;
    });
  };

  return {
    async current() {
      const newest = await records.rootKeys.newest();
      return open(
        newest !== undefined && serves(newest)
          ? newest
          : await add({ actor: 'larder', action: 'rotate_root_key' }, true),
      );
    },
    async find(id) {
      const known = opened.get(id);
      if (known !== undefined) return known;
      const kept = await records.rootKeys.find(id);
      return kept && open(kept);
    },
    rotate: (entry) => add(entry, false),
  };
}

const purposeOf = (id: string): string => `root key ${id}`;
