// Root keys sign the store's tokens. They are sealed under the site key and rotated every few days; an old key verifies
// until the last token that it signed has expired.
import { randomBytes } from '#domain/cryptography.ts';
import { itself, type Acts, type Actor } from '#acts/act.ts';
import { rotateRootKey } from '#acts/tokens/token-keys.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { StoreRecords } from '#records/index.ts';
import type { SealedRootKey as SealedKey } from '#records/tokens/root-keys.ts';
import { seal, unseal } from './sealing.ts';

export interface OpenedRootKey {
  id: string;
  key: Buffer;
}

export interface RootKeyOptions {
  records: Pick<StoreRecords, 'rootKeys'>;
  acts: Acts;
  siteKey: Buffer;
  newId: NewIds;
  /** The latest time seen. */
  clock: () => Date;
  /** After how many days new tokens are signed with a new key. */
  life: () => number;
}

export interface RootKeys {
  /** The key for new tokens: the newest, or a new one if that is due for rotation. */
  current(): Promise<OpenedRootKey>;
  /**
   * Finds a key that a token names. The key may have been deleted since it was cached: a caller must also check the
   * session, which ends with its key.
   */
  find(id: string): Promise<OpenedRootKey | undefined>;
  /** Creates a key now; the old ones still verify. */
  rotate(actor: Actor): Promise<{ id: string; createdAt: string }>;
}

export function createRootKeys({ records, acts, siteKey, newId, clock, life }: RootKeyOptions): RootKeys {
  const opened = new BoundedMap<string, OpenedRootKey>(1000);

  const open = ({ id, sealed }: { id: string; sealed: string }): OpenedRootKey => {
    let key = opened.get(id);
    if (key === undefined) {
      key = { id, key: unseal(siteKey, sealed, purposeOf(id)) };
      opened.set(id, key);
    }
    return key;
  };

  /** A key created before this time is due for rotation. */
  const dueBefore = (): string => timestamp(after(clock(), -days(life())));

  const add = (actor: Actor, due: string | null): Promise<SealedKey> => {
    const id = newId.uuid();
    const sealed = seal(siteKey, randomBytes(32), purposeOf(id));
    return acts.do(rotateRootKey, actor, { id, sealed, moment: timestamp(clock()), dueBefore: due });
  };

  return {
    async current() {
      const newest = await records.rootKeys.newest();
      const due = dueBefore();
      return open(newest !== undefined && newest.createdAt > due ? newest : await add(itself, due));
    },
    async find(id) {
      const cached = opened.get(id);
      if (cached !== undefined) return cached;
      const stored = await records.rootKeys.find(id);
      return stored && open(stored);
    },
    rotate: (actor) => add(actor, null),
  };
}

const purposeOf = (id: string): string => `root key ${id}`;
