// The identity provider's own keys. Caveats are encrypted to the newest; for a day after a rotation the previous key
// still reads caveats, so that no login in progress is lost.
import { itself, type Acts, type Actor } from '#acts/act.ts';
import { makeDischargerKey, replacedBefore } from '#acts/tokens/token-keys.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import type { DischargerKey } from '#records/login/discharger-keys.ts';
import type { StoreRecords } from '#records/index.ts';
import { keyPairFrom, keyText, newKeyPair, type KeyPair } from './codec/keys.ts';
import { seal, unseal } from './sealing.ts';

/** How long a replaced key can still decrypt caveats. */
export const dischargerKeyGrace = days(1);

export interface DischargerKeys {
  /** The current pair; created if there is none yet. */
  current(): Promise<KeyPair>;
  /** The key pairs that can decrypt caveats: the current one first, then those replaced less than `dischargerKeyGrace` ago. */
  all(): Promise<KeyPair[]>;
  /** Makes a new pair the current one. */
  rotate(actor: Actor): Promise<{ publicKey: string }>;
}

export interface DischargerKeyOptions {
  records: Pick<StoreRecords, 'dischargerKeys'>;
  acts: Acts;
  siteKey: Buffer;
  /** The latest time seen. */
  clock: () => Date;
}

export function createDischargerKeys({ records, acts, siteKey, clock }: DischargerKeyOptions): DischargerKeys {
  const opened = new BoundedMap<string, KeyPair>(100);

  const open = ({ publicKey, sealed }: DischargerKey): KeyPair => {
    let pair = opened.get(publicKey);
    if (pair === undefined) {
      pair = keyPairFrom(unseal(siteKey, sealed, purposeOf(publicKey)));
      opened.set(publicKey, pair);
    }
    return pair;
  };

  const add = (actor: Actor, onlyTheFirst: boolean): Promise<DischargerKey> => {
    const pair = newKeyPair();
    const publicKey = keyText(pair.publicKey);
    const sealed = seal(siteKey, pair.privateKey, purposeOf(publicKey));
    return acts.do(makeDischargerKey, actor, { publicKey, sealed, moment: timestamp(clock()), onlyTheFirst });
  };

  const serving = async (): Promise<[DischargerKey, ...DischargerKey[]]> => {
    const keys = await records.dischargerKeys.list();
    const [newest, ...older] = keys;
    if (newest === undefined) return [await add(itself, true)];
    const replaced = replacedBefore(keys, timestamp(after(clock(), -dischargerKeyGrace)));
    return [newest, ...older.filter((key) => !replaced.includes(key))];
  };

  return {
    current: async () => open((await serving())[0]),
    all: async () => (await serving()).map(open),
    async rotate(actor) {
      const { publicKey } = await add(actor, false);
      return { publicKey };
    },
  };
}

const purposeOf = (publicKey: string): string => `discharger key ${publicKey}`;
