// A data directory as a store: its configuration, its records, and what it takes to change them.
import { join } from 'node:path';

import type { Acts } from '#acts/act.ts';
import { readPolicy, type ApprovalPolicy } from '#domain/approvals.ts';
import { days, type Now } from '#domain/clock.ts';
import { randomIds, type NewIds } from '#domain/ids.ts';
import { prepareFile } from '#files/durable.ts';
import { createAuthority, type Authority } from '#macaroons/authority.ts';
import { createDischargerKeys, type DischargerKeys } from '#macaroons/discharger-keys.ts';
import { latestTime, type LatestTime } from '#macaroons/latest-time.ts';
import { createRootKeys, type RootKeys } from '#macaroons/root-keys.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { refuseForeignKey } from '#macaroons/site-key.ts';
import type { Records } from '#records/index.ts';
import { createSignedTokens, type SignedTokens } from '#registry/signed-tokens.ts';
import { readConfig, type Config } from '#src/config.ts';
import { makeSigningCertificate } from '#tls/certificates.ts';
import type { Keeping } from '#tls/keeper.ts';
import { recordsPlace } from './records-place.ts';
import { openRecords, type AuditSealing, type OpenDatabase, type Opening } from './records.ts';
import { readSiteKey } from './secrets.ts';
import type { Upgrade } from './upgrade.ts';

export interface StoreOptions {
  /** The data directory. */
  directory: string;
  now?: Now;
  /** A clock that nobody sets, in milliseconds from whenever; against it a step of `now` is noticed. */
  elapsed?: (() => number) | undefined;
  newId?: NewIds;
  /** Where systemd puts credentials, if it does. */
  credentials?: string | undefined;
  /** Told once, in words for a person where, that the server of the records is waited for. */
  waits?: (place: string) => void;
  /** Told why the store cannot be served any longer, as when the disk broke a promise: the process must end at once, with this error. */
  fatal?: (error: Error) => void;
}

/** The records of a data directory and what is needed to change them: what commands on the host work with. */
export interface Store {
  directory: string;
  config: Config;
  records: Records;
  acts: Acts;
  database: OpenDatabase;
  authority: Authority;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  /** Under which secrets are sealed in the records. */
  siteKey: Buffer;
  sealing: AuditSealing;
  now: Now;
  newId: NewIds;
  /** What was done to data of an older release when it was opened. */
  upgrade: Upgrade | undefined;
  close(): Promise<void>;
}

/** Opens the records beside a serving process or without one. */
export async function openStore(options: StoreOptions & Opening): Promise<Store> {
  const { directory, now = () => new Date(), newId = randomIds, credentials } = options;
  const config = readConfig(join(directory, 'larder.toml'));
  const siteKey = readSiteKey({ directory, credentials, masterKeyFile: undefined });
  const place = recordsPlace(directory, config, credentials, options.waits);
  let serving: Pick<Store, 'config'> = { config };
  const configuredPolicy = (): ApprovalPolicy => readPolicy(serving.config.approvals);
  const opening = { ...options, place, siteKey, configuredPolicy };
  const { records: known, acts, close, ...opened } = await openRecords(directory, opening);
  try {
    await refuseForeignKey(known, siteKey);
    await settleSeals(known);
    const latest = latestTime(now, options.elapsed);
    const clock = (): Date => latest.now();
    const life = (): number => store.config.identity.root_key_days;
    const rootKeys = createRootKeys({ records: known, acts, siteKey, newId, clock, life });
    const dischargerKeys = createDischargerKeys({ records: known, acts, siteKey, clock });
    const location = (): string => store.config.http.base_url;
    const authority = createAuthority({
      records: known,
      acts,
      rootKeys,
      dischargerKeys,
      latestTime: latest,
      newId,
      location,
      longestLife: () => days(store.config.identity.longest_token_days),
      requiresTotp: () => store.config.identity.require_totp,
    });
    const parts = { records: known, acts, authority, rootKeys, dischargerKeys, latestTime: latest };
    const store: Store = { directory, config, ...parts, ...opened, siteKey, now, newId, close };
    // A server replaces the configuration of its store when it reads it again.
    serving = store;
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Brings the seals of the audit log to where a process that was killed, or a release without them, has not. */
async function settleSeals(known: Records): Promise<void> {
  await known.settleSeals();
  if ((await known.auditSeals.newest()) === undefined) await known.seal();
}

/** Tokens for another registry, as a store has them for itself or for a command on the host. */
export const signedTokensOf = ({
  records: known,
  acts,
  latestTime: latest,
  newId,
  siteKey,
}: Omit<Store, 'close'>): SignedTokens =>
  createSignedTokens({
    records: known,
    acts,
    clock: () => latest.now(),
    newId,
    seal: (secret, purpose) => seal(siteKey, secret, purpose),
    unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
    certify: makeSigningCertificate,
  });

/** How the certificates of a data directory are kept. */
export const keepingOf = (directory: string, siteKey: Buffer, now: Now): Keeping => ({
  directory,
  now,
  seal: (secret, purpose) => seal(siteKey, secret, purpose),
  unseal: (text, purpose) => unseal(siteKey, text, purpose),
  write: (file, content, mode) => {
    prepareFile(file, content, mode).place();
  },
});
