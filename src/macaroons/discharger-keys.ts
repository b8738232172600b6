// The identity provider's own keys: caveats are encrypted to the newest, and for a day after a change
// those encrypted to the one before it are still read, so that no login under way is lost.
import { after, days, timestamp } from '#domain/clock.ts';
import type { AuditEntry } from '#records/audit.ts';
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
  rotate(entry: Pick<AuditEntry, 'actor' | 'action'>): Promise<{ publicKey: string }>;
}

export interface DischargerKeyOptions {
  records: Records;
  siteKey: Buffer;
  /** The latest time that was seen. */
  clock: () => Date;
}

export function createDischargerKeys({ records, siteKey, clock }: DischargerKeyOptions): DischargerKeys {
  const opened = new Map<string, KeyPair>();

  const open = ({ publicKey, sealed }: DischargerKey): KeyPair => {
    let pair = opened.get(publicKey);
    if (pair === undefined) {
      pair = keyPairFrom(unseal(siteKey, sealed, purposeOf(publicKey)));
      if (opened.size >= 100) opened.clear();
      opened.set(publicKey, pair);
    }
    return pair;
  };

  const add = (entry: Pick<AuditEntry, 'actor' | 'action'>, onlyTheFirst: boolean): Promise<DischargerKey> => {
    const at = timestamp(clock());
    return records.change({ ...entry, at, object: 'discharger-key' }, async (tx, note) => {
      const [newest] = await tx.dischargerKeys.list();
      if (onlyTheFirst && newest !== undefined) return newest;
      const pair = newKeyPair();
      const publicKey = keyText(pair.publicKey);
      const createdAt =
        newest === undefined || newest.createdAt < at ? at : timestamp(after(new Date(newest.createdAt), 1));
      const made = { publicKey, sealed: seal(siteKey, pair.privateKey, purposeOf(publicKey)), createdAt };
      await tx.dischargerKeys.add(made);
      note({ publicKey });
      return made;
    });
  };

  const serving = async (): Promise<[DischargerKey, ...DischargerKey[]]> => {
    const [newest, ...older] = await records.dischargerKeys.list();
    if (newest === undefined) return [await add({ actor: 'larder', action: 'make_discharger_key' }, true)];
    const graceEnded = clock().getTime() - dischargerKeyGrace;
    // Each was replaced when the next newer one was made.
    return [newest, ...older.filter((_, index) => Date.parse((older[index - 1] ?? newest).createdAt) > graceEnded)];
  };

  return {
    current: async () => open((await serving())[0]),
    all: async () => (await serving()).map(open),
    async rotate(entry) {
      const { publicKey } = await add(entry, false);
      return { publicKey };
    },
  };
}

const purposeOf = (publicKey: string): string => `discharger key ${publicKey}`;
