// Checks that the site key belongs to the records: the key of another store cannot open their secrets, and every token
// check would fail without a reason. A value sealed under the right key is stored for this, with its fingerprint.
import { createMac } from '#domain/cryptography.ts';
import { itself, type Acts } from '#acts/act.ts';
import { rememberSiteKey, siteKeyCheckName } from '#acts/keys/site-key.ts';
import type { StoreRecords } from '#records/index.ts';
import { describeFault, type FactsOf } from '#platform/faults.ts';
import { seal, unseal } from './sealing.ts';

const purpose = 'check of the site key';

/** The key belongs to another store; the message is for a person. */
export class ForeignSiteKey extends Error {
  readonly facts: FactsOf<'wrong-site-key'>;

  constructor(fingerprint: string, expected: string | undefined) {
    const facts = { given: fingerprint, expected };
    const { says, remedy } = describeFault('wrong-site-key', facts);
    super(`${says}. ${remedy.replace(/\.$/, '')}`);
    this.name = 'ForeignSiteKey';
    this.facts = facts;
  }
}

/** A fingerprint for people to compare keys by; it reveals nothing of the key. */
export const fingerprintOf = (siteKey: Buffer): string =>
  createMac('site key fingerprint', siteKey)
    .update('fingerprint of the site key')
    .digest('hex')
    .slice(0, 16)
    .replace(/(.{4})(?!$)/g, '$1-');

/** Throws `ForeignSiteKey` if the secrets in the records cannot be opened with this key. */
export async function refuseForeignKey(records: StoreRecords, siteKey: Buffer): Promise<void> {
  const fingerprint = fingerprintOf(siteKey);
  const check = await records.appliance.find(siteKeyCheckName);
  if (check === undefined) {
    // Records of the first release have no check value; any root key serves as well.
    const newest = await records.rootKeys.newest();
    if (newest !== undefined && !opens(siteKey, newest.sealed, `root key ${newest.id}`)) {
      throw new ForeignSiteKey(fingerprint, undefined);
    }
    return;
  }
  const [expectedFingerprint = '', sealed = ''] = check.split(' ');
  // One of the two may be corrupt; that does not mean another key.
  if (expectedFingerprint !== fingerprint && !opens(siteKey, sealed, purpose))
    throw new ForeignSiteKey(fingerprint, expectedFingerprint);
}

/** The check value of a key, stored when the store is created. */
export const keyCheckOf = (siteKey: Buffer): string =>
  `${fingerprintOf(siteKey)} ${seal(siteKey, Buffer.from('larder'), purpose)}`;

/** Stores the check value in records that were created without it. */
export async function storeKeyCheck(
  records: Pick<StoreRecords, 'appliance'>,
  acts: Acts,
  siteKey: Buffer,
): Promise<void> {
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
