// Whether the site key is that of the records: another store's opens nothing that is sealed in them, and every token
// check would fail without saying why. A value sealed under the right key is kept for that, with its fingerprint.
import { createHmac } from 'node:crypto';

import { itself, type Acts } from '#acts/act.ts';
import { rememberSiteKey, siteKeyCheckName } from '#acts/site-key.ts';
import type { Records } from '#records/index.ts';
import { describeFault, type FactsOf } from '#src/faults.ts';
import { seal, unseal } from './sealing.ts';

const purpose = 'check of the site key';

/** The key is of another store; the message is for a person. */
export class ForeignSiteKey extends Error {
  readonly facts: FactsOf<'wrong-site-key'>;

  constructor(given: string, expected: string | undefined) {
    const facts = { given, expected };
    const { says, remedy } = describeFault('wrong-site-key', facts);
    super(`${says}. ${remedy.replace(/\.$/, '')}`);
    this.name = 'ForeignSiteKey';
    this.facts = facts;
  }
}

/** What people compare keys by; it tells nothing of the key. */
export const fingerprintOf = (siteKey: Buffer): string =>
  createHmac('sha256', siteKey)
    .update('fingerprint of the site key')
    .digest('hex')
    .slice(0, 16)
    .replace(/(.{4})(?!$)/g, '$1-');

/** Throws `ForeignSiteKey` when what is sealed in the records cannot be opened with this key. */
export async function refuseForeignKey(records: Records, siteKey: Buffer): Promise<void> {
  const given = fingerprintOf(siteKey);
  const check = await records.appliance.find(siteKeyCheckName);
  if (check === undefined) {
    // Records of the first release have none; any key that tokens were signed with tells as much.
    const newest = await records.rootKeys.newest();
    if (newest !== undefined && !opens(siteKey, newest.sealed, `root key ${newest.id}`)) {
      throw new ForeignSiteKey(given, undefined);
    }
    return;
  }
  const [wanted = '', sealed = ''] = check.split(' ');
  // One of the two may be damaged; that is not another key.
  if (wanted !== given && !opens(siteKey, sealed, purpose)) throw new ForeignSiteKey(given, wanted);
}

/** What the key is known by, as it is kept from the making of the store on. */
export const keyCheckOf = (siteKey: Buffer): string =>
  `${fingerprintOf(siteKey)} ${seal(siteKey, Buffer.from('larder'), purpose)}`;

/** Keeps it for records that were made without it. */
export async function keepKeyCheck(records: Pick<Records, 'appliance'>, acts: Acts, siteKey: Buffer): Promise<void> {
  if ((await records.appliance.find(siteKeyCheckName)) !== undefined) return;
  await acts.do(rememberSiteKey, itself, { check: keyCheckOf(siteKey) });
}

function opens(siteKey: Buffer, sealed: string, of: string): boolean {
  try {
    unseal(siteKey, sealed, of);
    return true;
  } catch {
    return false;
  }
}
