// The keys behind tokens: root keys, which sign them, and the keys of the identity provider. They arrive sealed.
import { after, timestamp } from '#domain/clock.ts';
import type { DischargerKey } from '#records/login/discharger-keys.ts';
import type { SealedRootKey } from '#records/tokens/root-keys.ts';
import { act } from '../act.ts';

const never = 'issued tokens stay valid, and no account gets more rights';

interface NewRootKey {
  id: string;
  sealed: string;
  /** The latest time that the store has seen. */
  moment: string;
  /** Only rotate if the newest key was made at this time or earlier; null to rotate in any case. */
  dueBefore: string | null;
}

export const rotateRootKey = act({
  name: 'rotate_root_key',
  summary: 'Sign new tokens with a new root key; the old keys still verify tokens.',
  on: 'root-keys',
  object: () => 'root-keys',
  gate: { never },

  /** Returns the key in use afterwards. */
  async perform(tx, { id, sealed, moment, dueBefore }: NewRootKey, { note }): Promise<SealedRootKey> {
    const newest = await tx.rootKeys.newest();
    // Another process or another request may have rotated it already.
    if (dueBefore !== null && newest !== undefined && newest.createdAt > dueBefore) {
      note({ kept: newest.id });
      return newest;
    }
    const made = { id, sealed, createdAt: later(newest, moment) };
    await tx.rootKeys.add(made);
    note({ id });
    return made;
  },
});

interface NewDischargerKey {
  publicKey: string;
  sealed: string;
  /** The latest time that the store has seen. */
  moment: string;
  /** Only make a key if there is none yet. */
  onlyTheFirst: boolean;
}

export const makeDischargerKey = act({
  name: 'make_discharger_key',
  summary: 'Start using a new key of the identity provider; the old one is still accepted for a day.',
  on: 'discharger-key',
  object: () => 'discharger-key',
  gate: { never },

  /** Returns the key in use afterwards. */
  async perform(tx, { publicKey, sealed, moment, onlyTheFirst }: NewDischargerKey, { note }): Promise<DischargerKey> {
    const [newest] = await tx.dischargerKeys.list();
    if (onlyTheFirst && newest !== undefined) {
      note({ kept: newest.publicKey });
      return newest;
    }
    const made = { publicKey, sealed, createdAt: later(newest, moment) };
    await tx.dischargerKeys.add(made);
    note({ publicKey });
    return made;
  },
});

interface KeyRetirement {
  /** Root keys that a newer one replaced before this moment are removed: logins signed with them have ended. */
  rootKeysReplacedBefore: string;
  dischargerKeysReplacedBefore: string;
  /** The latest time that the store has seen. */
  moment: string;
}

export const retireKeys = act({
  name: 'retire_keys',
  summary: 'Remove keys that are no longer used.',
  on: 'keys',
  object: () => 'keys',
  gate: { never: 'it follows from the time alone' },

  /** Returns the number of removed keys. */
  async perform(tx, spent: KeyRetirement, { note }): Promise<number> {
    const rootKeys = await tx.rootKeys.spent(spent.rootKeysReplacedBefore, spent.moment);
    for (const id of rootKeys) await tx.rootKeys.remove(id);
    const dischargerKeys = replacedBefore(await tx.dischargerKeys.list(), spent.dischargerKeysReplacedBefore);
    for (const { publicKey } of dischargerKeys) await tx.dischargerKeys.remove(publicKey);
    note({ rootKeys, dischargerKeys: dischargerKeys.map(({ publicKey }) => publicKey) });
    return rootKeys.length + dischargerKeys.length;
  },
});

/** The keys of the identity provider that were replaced by a newer key at `moment` or earlier. `keys` is sorted, newest first. */
export const replacedBefore = (keys: readonly DischargerKey[], moment: string): DischargerKey[] =>
  keys.filter((_, at) => at > 0 && keys[at - 1]!.createdAt <= moment);

/** A time later than that of the key before it, because the newest key is the one in use. */
const later = (newest: { createdAt: string } | undefined, moment: string): string =>
  newest === undefined || newest.createdAt < moment ? moment : timestamp(after(new Date(newest.createdAt), 1));
