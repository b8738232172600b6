// The identity provider's own keys: caveats are encrypted to the newest, and for a day after a change
// those encrypted to the one before it are still read, so that no login under way is lost.
import { itself, type Acts, type By } from '#acts/act.ts';
import { makeDischargerKey, replacedBefore } from '#acts/token-keys.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import type { DischargerKey } from '#records/discharger-keys.ts';
import type { Records } from '#records/index.ts';
import { keyPairFrom, keyText, newKeyPair, type KeyPair } from './codec/keys.ts';
import { seal, unseal } from './sealing.ts';

/** How long a key that was replaced goes on reading caveats. */
export const dischargerKeyGrace = days(1);

export interface DischargerKeys {
  /** The pair in use; made when there is none yet. */
  current(): Promise<KeyPair>;
  /** Every pair that reads caveats, the one in use first. */
  all(): Promise<KeyPair[]>;
  /** Takes a new pair into use. */
  rotate(by: By): Promise<{ publicKey: string }>;
}

export interface DischargerKeyOptions {
  records: Pick<Records, 'dischargerKeys'>;
  acts: Acts;
  siteKey: Buffer;
  /** The latest time that was seen. */
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

  const add = (by: By, onlyTheFirst: boolean): Promise<DischargerKey> => {
    const pair = newKeyPair();
    const publicKey = keyText(pair.publicKey);
    const sealed = seal(siteKey, pair.privateKey, purposeOf(publicKey));
    return acts.do(makeDischargerKey, by, { publicKey, sealed, moment: timestamp(clock()), onlyTheFirst });
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
    async rotate(by) {
      const { publicKey } = await add(by, false);
      return { publicKey };
    },
  };
}

const purposeOf = (publicKey: string): string => `discharger key ${publicKey}`;
