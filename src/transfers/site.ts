// This site as a source of transfers: its name, and the key with which it signs them.
import { randomBytes } from 'node:crypto';

import { nameSite, siteNameKept, transferKeyKept } from '#acts/sites.ts';
import type { Acts, By } from '#acts/act.ts';
import type { SiteIdentity } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Records } from '#records/index.ts';
import { keyIdOf, SigningSeed } from './form/signatures.ts';

export interface Site {
  name: string;
  seed: SigningSeed;
}

const purpose = 'key of transfers';

/** The site, as far as it has a name. */
export async function siteOf({ appliance }: Pick<Records, 'appliance'>, siteKey: Buffer): Promise<Site | undefined> {
  const [name, sealed] = [await appliance.find(siteNameKept), await appliance.find(transferKeyKept)];
  if (name === undefined || sealed === undefined) return undefined;
  return { name, seed: new SigningSeed(unseal(siteKey, sealed, purpose)) };
}

/** The same, where it must have one. */
export async function ownSite(records: Pick<Records, 'appliance'>, siteKey: Buffer): Promise<Site> {
  const site = await siteOf(records, siteKey);
  if (site !== undefined) return site;
  throw new Refusal(
    'resource-not-found',
    "This site has no name yet; 'larder site init NAME' gives it one, and a key.",
  );
}

/** Gives the site a name and a key. */
export async function makeSite(name: string, siteKey: Buffer, acts: Acts, by: By): Promise<Site> {
  const secret = randomBytes(32);
  const seed = new SigningSeed(secret);
  const keyId = keyIdOf(seed.publicKey);
  await acts.do(nameSite, by, { name, keyId, sealedKey: seal(siteKey, secret, purpose) });
  return { name, seed };
}

/** What others are given to believe it. */
export const identityOf = ({ name, seed }: Site): SiteIdentity => ({
  format: 1,
  site: name,
  keys: [seed.publicKey],
  threshold: 1,
});

/** By which people compare keys: the first 32 digits of the key's id, in groups. */
export const fingerprintOfId = (keyid: string): string => keyid.slice(0, 32).replace(/(.{4})(?!$)/g, '$1-');

/** The same of public keys; of several keys all of them. */
export const fingerprintOf = (keys: readonly string[]): string[] =>
  keys.map((key) => fingerprintOfId(keyIdOf(key))).sort();
