// Job that removes replaced keys: a root key when the last token it signed has expired, and the identity provider's old key one day after
// its replacement.
import { itself, type Acts } from '#acts/act.ts';
import { replacedBefore, retireKeys as retire } from '#acts/tokens/token-keys.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { dischargerKeyGrace } from '#macaroons/discharger-keys.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** How long a replaced root key is kept for logins that it signed and that no client has exchanged yet. */
const loginGrace = days(7);

export const retireKeys = (records: StoreRecords, acts: Acts, latestTime: LatestTime): BackgroundJob => ({
  name: 'retire-keys',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const now = latestTime.now();
    const moment = timestamp(now);
    const rootKeysReplacedBefore = timestamp(after(now, -loginGrace));
    const dischargerKeysReplacedBefore = timestamp(after(now, -dischargerKeyGrace));
    const spent = await records.rootKeys.spent(rootKeysReplacedBefore, moment);
    const replaced = replacedBefore(await records.dischargerKeys.list(), dischargerKeysReplacedBefore);
    if (spent.length === 0 && replaced.length === 0) return { retired: 0 };
    return { retired: await acts.do(retire, itself, { rootKeysReplacedBefore, dischargerKeysReplacedBefore, moment }) };
  },
});
