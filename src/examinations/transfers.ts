// Whether what is expected from other sites comes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { whyItWaits } from '#acts/transfers.ts';
import { days } from '#domain/clock.ts';
import { formerStoreFolder, formerStoreName } from '#transfers/former-store.ts';
import { notice, well, wrong, type Examination } from './examination.ts';

export const transfers: Examination = {
  what: 'Transfers',
  async look({ config, data, store }) {
    const { records, now } = await store();
    if (existsSync(join(data, formerStoreFolder))) {
      return wrong(
        `the key with which an earlier release adopted a former store lies in ${join(data, formerStoreFolder)}`,
        `'larder site distrust ${formerStoreName} --yes' ends the trust in it; then remove the folder.`,
      );
    }
    for (const { name, keyCopiedAt } of await records.transferSources.list()) {
      if (keyCopiedAt === null) continue;
      return wrong(
        `two different rotations with one number prove that a key of '${name}' was copied`,
        `Ask its people by telephone which keys are theirs; 'larder site distrust ${name} --yes' ends the trust until you know.`,
      );
    }
    for (const { id, source, sequence } of await records.transfers.waiting(mostLooked)) {
      const why = (await records.transfers.finding(id, whyItWaits))?.refused ?? undefined;
      if (why === undefined) continue;
      return notice(
        `number ${String(sequence)} of ${source} waits for people, and did not come in by itself: ${why}`,
        `'larder transfer preview ${id.slice(0, 12)}' shows what it would change, 'larder transfer accept' lets it in.`,
      );
    }
    const expected = config().transfers.expected_days;
    if (expected === undefined) return well('none is expected (transfers.expected_days is not set)');
    const last = await records.transfers.lastSettled();
    if (last === null) return notice('no transfer was ever let in here', mend);
    const since = Math.floor((now().getTime() - Date.parse(last)) / days(1));
    if (since < expected) return well(`the last was let in at ${last}`);
    return notice(
      `nothing has come for ${String(since)} days, and every ${String(expected)} days something should`,
      mend,
    );
  },
};

/** So many that wait are looked at. */
const mostLooked = 100;

const mend = "'larder transfer request' asks for what is wished for; 'larder transfer list' shows what waits here.";
