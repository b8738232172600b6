// Keys that have served: a root key goes when the last token that it signed has ended, the identity provider's
// old key a day after it was replaced.
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { dischargerKeyGrace } from '#macaroons/discharger-keys.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** How long after it was replaced a root key is kept for logins that it signed and nobody has exchanged yet. */
const loginGrace = days(7);

export const retireKeys = (records: Records, latestTime: LatestTime): Job => ({
  name: 'retire-keys',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const at = timestamp(moment);
    const replacedBefore = timestamp(after(moment, -loginGrace));
    const entry = { at, actor: 'larder', action: 'retire_keys', object: 'keys' };

    const spent = await records.rootKeys.spent(replacedBefore, at);
    const [newest, ...older] = await records.dischargerKeys.list();
    const graceEnded = moment.getTime() - dischargerKeyGrace;
    const replaced = older.filter((_, index) => Date.parse((older[index - 1] ?? newest!).createdAt) <= graceEnded);
    if (spent.length === 0 && replaced.length === 0) return { retired: 0 };

    const rootKeys = await records.change(entry, async (tx, note) => {
      // Looked at again: a token may have been issued since.
      const ids = await tx.rootKeys.spent(replacedBefore, at);
      for (const id of ids) await tx.rootKeys.remove(id);
      for (const { publicKey } of replaced) await tx.dischargerKeys.remove(publicKey);
      note({ rootKeys: ids, dischargerKeys: replaced.map(({ publicKey }) => publicKey) });
      return ids.length;
    });
    return { retired: rootKeys + replaced.length };
  },
});
