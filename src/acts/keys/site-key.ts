// A check value that is sealed with the site key. A store that starts with another site key cannot open it, and so notices.
import type { ChangeRecords } from '#records/index.ts';
import { act } from '../act.ts';

/** The name of the appliance setting that stores the check value. */
export const siteKeyCheckName = 'site-key-check';

export const keepSiteKeyCheck = (tx: ChangeRecords, check: string): Promise<unknown> =>
  tx.appliance.set(siteKeyCheckName, check);

export const rememberSiteKey = act({
  name: 'record_site_key',
  summary: 'Record the fingerprint of the site key in records that were made without it.',
  on: 'site-key',
  object: () => 'site-key',
  gate: { never: 'it follows from the records and the key' },

  async perform(tx, { check }: { check: string }): Promise<void> {
    await keepSiteKeyCheck(tx, check);
  },
});
