// The identity of this site in transfers: its name and its signing key.
import { randomBytes } from 'node:crypto';

import {
  earlierKeysSetting,
  nameSite,
  rotateSite,
  rotationSetting,
  siteNameSetting,
  transferKeySetting,
} from '#acts/sites/sites.ts';
import type { Acts, Actor } from '#acts/act.ts';
import { findProblems } from '#contract/schema.ts';
import type { SiteIdentity, SiteRotation } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { StoreRecords } from '#records/index.ts';
import { signEnvelope, openEnvelope, findEnvelopeSigners, type OpenedEnvelope } from './statement/envelopes.ts';
import { keyIdOf, SigningSeed } from './statement/signatures.ts';

export interface Site {
  name: string;
  seed: SigningSeed;
  /** Earlier public keys, newest last; empty if the key was never rotated. */
  before?: string[];
}

const purpose = 'key of transfers';

/** Returns the site; undefined if it has no name yet. */
export async function siteOf(
  { appliance }: Pick<StoreRecords, 'appliance'>,
  siteKey: Buffer,
): Promise<Site | undefined> {
  const [name, sealed] = [await appliance.find(siteNameSetting), await appliance.find(transferKeySetting)];
  if (name === undefined || sealed === undefined) return undefined;
  const before = JSON.parse((await appliance.find(earlierKeysSetting)) ?? '[]') as string[];
  return { name, seed: new SigningSeed(unseal(siteKey, sealed, purpose)), before };
}

/** Like `siteOf`, but refuses if the site has no name. */
export async function ownSite(records: Pick<StoreRecords, 'appliance'>, siteKey: Buffer): Promise<Site> {
  const site = await siteOf(records, siteKey);
  if (site !== undefined) return site;
  throw new Refusal(
    'resource-not-found',
    "This site has no name yet. Give it a name and a key with 'larder site init NAME'.",
  );
}

/** Gives the site a name and a key. */
export async function makeSite(name: string, siteKey: Buffer, acts: Acts, actor: Actor): Promise<Site> {
  const secret = randomBytes(32);
  const seed = new SigningSeed(secret);
  const keyId = keyIdOf(seed.publicKey);
  await acts.do(nameSite, actor, { name, keyId, sealedKey: seal(siteKey, secret, purpose) });
  return { name, seed };
}

const rotationType = 'application/vnd.larder.rotation.v1+json';

/** Replaces the key of the site. Returns the statement for other sites, signed with the previous key. */
export async function rotateSiteKey(site: Site, siteKey: Buffer, acts: Acts, actor: Actor): Promise<string> {
  const secret = randomBytes(32);
  const seed = new SigningSeed(secret);
  const before = [...(site.before ?? []), site.seed.publicKey];
  const sealedKey = seal(siteKey, secret, purpose);
  const rotation: SiteRotation = {
    format: 1,
    site: site.name,
    rotation: before.length,
    keys: [seed.publicKey],
    threshold: 1,
  };
  const statement = signEnvelope(rotation, rotationType, site.seed);
  await acts.do(rotateSite, actor, { name: site.name, keyId: keyIdOf(seed.publicKey), sealedKey, before, statement });
  return statement;
}

/** Returns the statement of the last rotation; undefined if there was none. */
export const lastRotation = ({ appliance }: Pick<StoreRecords, 'appliance'>): Promise<string | undefined> =>
  appliance.find(rotationSetting);

/** Reads a rotation statement: the new keys of a source. Returns undefined if the text is not one. */
export function parseRotation(
  text: string,
): { rotation: SiteRotation; signedBy: (keys: readonly string[]) => string[] } | undefined {
  const opened: OpenedEnvelope | undefined = openEnvelope(text, rotationType);
  if (opened === undefined || findProblems('SiteRotation', opened.payload).length > 0) return undefined;
  return { rotation: opened.payload as SiteRotation, signedBy: (keys) => findEnvelopeSigners(opened, keys) };
}

/** Returns the identity that other sites import to trust this one. */
export const identityOf = ({ name, seed }: Site): SiteIdentity => ({
  format: 1,
  site: name,
  keys: [seed.publicKey],
  threshold: 1,
});

/** Returns the part of its id that people use to name a transfer. */
export const shortId = (id: string): string => id.slice(0, 12);

/** Returns a short fingerprint for comparing keys: the first 32 digits of the key id, in groups. */
export const fingerprintOfId = (keyid: string): string => keyid.slice(0, 32).replace(/(.{4})(?!$)/g, '$1-');

/** Returns the sorted fingerprints of public keys. */
export const fingerprintOf = (keys: readonly string[]): string[] =>
  keys.map((key) => fingerprintOfId(keyIdOf(key))).sort();
