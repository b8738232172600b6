// The identity of this site in transfers: its name and its signing key.
import { randomBytes } from '#domain/cryptography.ts';
import {
  earlierKeysSetting,
  nameSite,
  rotateSite,
  rotationSetting,
  siteNameSetting,
  transferKeySetting,
} from '#acts/sites/sites.ts';
import type { Acts, Actor } from '#acts/act.ts';
import { refuseKeyName } from '#assertions/keys/key-custody.ts';
import type { CheckedKey, KeyManager } from '#assertions/keys/key-manager.ts';
import { findProblems } from '#contract/schema.ts';
import type { SiteIdentity, SiteRotation } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { StoreRecords } from '#records/index.ts';
import { signEnvelope, openEnvelope, findEnvelopeSigners, type OpenedEnvelope } from './statement/envelopes.ts';
import {
  decodeSiteKey,
  encodeP384Key,
  formatFor,
  keyIdOf,
  maxFormat,
  SigningSeed,
  type SiteSigner,
} from './statement/site-keys.ts';

export interface Site {
  name: string;
  key: SiteSigner;
  /** The name of the key in the key manager; undefined if the key is in the records. */
  managerKey?: string;
  /** Earlier public keys, newest last; empty if the key was never rotated. */
  before?: string[];
}

/** The places of keys of sites: the site key of the data directory opens the key in the records, the key manager has the others. */
export interface SiteKeys {
  siteKey: Buffer;
  manager: SiteKeyManager;
}

type SiteKeyManager = Pick<KeyManager, 'publicKey' | 'signBytes'>;

const purpose = 'key of transfers';

/** Returns the site; undefined if it has no name yet. */
export async function siteOf(
  { appliance }: Pick<StoreRecords, 'appliance'>,
  { siteKey, manager }: SiteKeys,
): Promise<Site | undefined> {
  const [name, sealed] = [await appliance.find(siteNameSetting), await appliance.find(transferKeySetting)];
  if (name === undefined || sealed === undefined) return undefined;
  const before = JSON.parse((await appliance.find(earlierKeysSetting)) ?? '[]') as string[];
  const secret = unseal(siteKey, sealed, purpose);
  if (secret.length === seedBytes) return { name, key: new SigningSeed(secret), before };
  const place = JSON.parse(secret.toString('utf8')) as ManagedPlace;
  return { name, key: managedSigner(place, manager), managerKey: place.managerKey, before };
}

/** Like `siteOf`, but refuses if the site has no name. */
export async function ownSite(records: Pick<StoreRecords, 'appliance'>, keys: SiteKeys): Promise<Site> {
  const site = await siteOf(records, keys);
  if (site !== undefined) return site;
  throw new Refusal(
    'resource-not-found',
    "This site has no name yet. Give it a name and a key with 'larder site init NAME'.",
  );
}

const seedBytes = 32;

/** The sealed text for a key in the key manager. It is sealed like a seed, so that a changed row of the records cannot name another key. */
interface ManagedPlace {
  managerKey: string;
  publicKey: string;
}

/** A new key of the site, with its text for the records. */
interface NewSiteKey {
  key: SiteSigner;
  sealedKey: string;
}

/** Makes a key in the records, or takes the key with this name in the key manager after it has signed once. */
async function makeSiteKey({ siteKey, manager }: SiteKeys, managerKey: string | undefined): Promise<NewSiteKey> {
  if (managerKey === undefined) {
    const secret = randomBytes(seedBytes);
    return { key: new SigningSeed(secret), sealedKey: seal(siteKey, secret, purpose) };
  }
  refuseKeyName(managerKey);
  const publicKey = encodeP384Key(await manager.publicKey(managerKey, 'transfer'));
  const place: ManagedPlace = { managerKey, publicKey };
  const key = managedSigner(place, manager);
  await key.sign(Buffer.from('larder site\n'));
  return { key, sealedKey: seal(siteKey, Buffer.from(JSON.stringify(place)), purpose) };
}

function managedSigner({ managerKey, publicKey }: ManagedPlace, manager: SiteKeyManager): SiteSigner {
  const key = decodeSiteKey(publicKey);
  if (key === undefined) throw new Error('cannot read the public key of the site');
  return {
    publicKey,
    sign: (bytes) => manager.signBytes({ name: managerKey, publicKey: key }, bytes, 'transfer p384'),
  };
}

/** Returns the key of the site for a check of the key manager; undefined if it is in the records. */
export async function managedKeyOfSite(
  records: Pick<StoreRecords, 'appliance'>,
  keys: SiteKeys,
): Promise<CheckedKey | undefined> {
  const site = await siteOf(records, keys);
  const publicKey = site && decodeSiteKey(site.key.publicKey);
  if (site?.managerKey === undefined || publicKey === undefined) return undefined;
  return { name: site.managerKey, publicKey, purpose: 'transfer' };
}

/** Gives the site a name and a key. */
export async function makeSite(
  name: string,
  { managerKey, ...keys }: SiteKeys & { managerKey: string | undefined },
  acts: Acts,
  actor: Actor,
): Promise<Site> {
  const { key, sealedKey } = await makeSiteKey(keys, managerKey);
  await acts.do(nameSite, actor, { name, keyId: keyIdOf(key.publicKey), sealedKey, managerKey });
  return { name, key };
}

export const rotationType = 'application/vnd.larder.rotation.v1+json';

/** Replaces the key of the site. Returns the statement for other sites, signed with the previous key. */
export async function rotateSiteKey(
  site: Site,
  { managerKey, ...keys }: SiteKeys & { managerKey: string | undefined },
  acts: Acts,
  actor: Actor,
): Promise<string> {
  const { key, sealedKey } = await makeSiteKey(keys, managerKey);
  if (key.publicKey === site.key.publicKey)
    throw new Refusal('conflict', `The key '${managerKey ?? ''}' is the key of this site already. Name another one.`);
  const before = [...(site.before ?? []), site.key.publicKey];
  const rotation: SiteRotation = {
    format: formatFor(key.publicKey, site.key.publicKey),
    site: site.name,
    rotation: before.length,
    keys: [key.publicKey],
    threshold: 1,
  };
  const statement = await signEnvelope(rotation, rotationType, site.key);
  const keyId = keyIdOf(key.publicKey);
  await acts.do(rotateSite, actor, { name: site.name, keyId, sealedKey, managerKey, before, statement });
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
  if (opened === undefined) return undefined;
  refuseNewerFormat(opened.payload);
  if (findProblems('SiteRotation', opened.payload).length > 0) return undefined;
  return { rotation: opened.payload as SiteRotation, signedBy: (keys) => findEnvelopeSigners(opened, keys) };
}

/** Refuses the identity or rotation of a site that a newer release wrote. */
export function refuseNewerFormat(value: unknown): void {
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format > maxFormat)
    throw new Refusal('api-error', `It has the format ${String(format)}, which a newer release of larder reads.`);
}

/** Returns the identity that other sites import to trust this one. */
export const identityOf = ({ name, key }: Site): SiteIdentity => ({
  format: formatFor(key.publicKey),
  site: name,
  keys: [key.publicKey],
  threshold: 1,
});

/** Reads the public identity of a site. Returns the problem as a clause if the text is not what 'larder site show --export' writes. */
export function parseIdentity(text: string): SiteIdentity | { problem: string | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: undefined };
  }
  refuseNewerFormat(value);
  const [problem] = findProblems('SiteIdentity', value);
  if (problem !== undefined) return { problem: problem.message };
  const identity = value as SiteIdentity;
  return identity.keys.some((key) => decodeSiteKey(key) === undefined)
    ? { problem: 'a key in it is no point on its curve' }
    : identity;
}

/** Whether the typed fingerprints are exactly those of the keys, in any order and case. */
export const areFingerprintsOf = (keys: readonly string[], typed: readonly string[]): boolean =>
  typed
    .map((fingerprint) => fingerprint.toLowerCase())
    .sort()
    .join() === fingerprintOf(keys).join();

/** Returns the part of its id that people use to name a transfer. */
export const shortId = (id: string): string => id.slice(0, 12);

/** Returns a short fingerprint for comparing keys: the first 32 digits of the key id, in groups. */
export const fingerprintOfId = (keyid: string): string => keyid.slice(0, 32).replace(/(.{4})(?!$)/g, '$1-');

/** Returns the sorted fingerprints of public keys. */
export const fingerprintOf = (keys: readonly string[]): string[] =>
  keys.map((key) => fingerprintOfId(keyIdOf(key))).sort();
