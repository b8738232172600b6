// This site as a source of transfers: its name, and the key with which it signs them.
import { randomBytes } from 'node:crypto';

import { keysBeforeKept, nameSite, rotateSite, rotationKept, siteNameKept, transferKeyKept } from '#acts/sites.ts';
import type { Acts, By } from '#acts/act.ts';
import { problems } from '#api/schema.ts';
import type { SiteIdentity, SiteRotation } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Records } from '#records/index.ts';
import { enveloped, openEnvelope, whoSigned, type Opened } from './form/envelopes.ts';
import { keyIdOf, SigningSeed } from './form/signatures.ts';

export interface Site {
  name: string;
  seed: SigningSeed;
  /** The public keys that it had before, the newest last; none where they were not rotated. */
  before?: string[];
}

const purpose = 'key of transfers';

/** The site, as far as it has a name. */
export async function siteOf({ appliance }: Pick<Records, 'appliance'>, siteKey: Buffer): Promise<Site | undefined> {
  const [name, sealed] = [await appliance.find(siteNameKept), await appliance.find(transferKeyKept)];
  if (name === undefined || sealed === undefined) return undefined;
  const before = JSON.parse((await appliance.find(keysBeforeKept)) ?? '[]') as string[];
  return { name, seed: new SigningSeed(unseal(siteKey, sealed, purpose)), before };
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

const rotationType = 'application/vnd.larder.rotation.v1+json';

/** Gives the site another key; what others are given to follow, signed by the one before. */
export async function rotate(site: Site, siteKey: Buffer, acts: Acts, by: By): Promise<string> {
  const secret = randomBytes(32);
  const seed = new SigningSeed(secret);
  const before = [...(site.before ?? []), site.seed.publicKey];
  const sealedKey = seal(siteKey, secret, purpose);
  const said: SiteRotation = {
    ...{ format: 1, site: site.name, rotation: before.length },
    ...{ keys: [seed.publicKey], threshold: 1 },
  };
  const statement = enveloped(said, rotationType, site.seed);
  await acts.do(rotateSite, by, { name: site.name, keyId: keyIdOf(seed.publicKey), sealedKey, before, statement });
  return statement;
}

/** What the last rotation gave; nothing where there was none. */
export const lastRotation = ({ appliance }: Pick<Records, 'appliance'>): Promise<string | undefined> =>
  appliance.find(rotationKept);

/** What a file says of the keys of a source from now on; nothing where it is no such statement. */
export function rotationIn(
  text: string,
): { said: SiteRotation; signedBy: (keys: readonly string[]) => string[] } | undefined {
  const opened: Opened | undefined = openEnvelope(text, rotationType);
  if (opened === undefined || problems('SiteRotation', opened.payload).length > 0) return undefined;
  return { said: opened.payload as SiteRotation, signedBy: (keys) => whoSigned(opened, keys) };
}

/** What others are given to believe it. */
export const identityOf = ({ name, seed }: Site): SiteIdentity => ({
  format: 1,
  site: name,
  keys: [seed.publicKey],
  threshold: 1,
});

/** By how much of its id people name a transfer. */
export const shortId = (id: string): string => id.slice(0, 12);

/** By which people compare keys: the first 32 digits of the key's id, in groups. */
export const fingerprintOfId = (keyid: string): string => keyid.slice(0, 32).replace(/(.{4})(?!$)/g, '$1-');

/** The same of public keys; of several keys all of them. */
export const fingerprintOf = (keys: readonly string[]): string[] =>
  keys.map((key) => fingerprintOfId(keyIdOf(key))).sort();
