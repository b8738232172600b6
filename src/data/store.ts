// Opens a data directory as a store: its configuration, its records, and the services that change them.
import { join } from 'node:path';

import type { Acts } from '#acts/act.ts';
import type { ActRules } from '#acts/door.ts';
import { readPolicy } from '#domain/approvals/approval-policy.ts';
import { days, type Now } from '#domain/clock.ts';
import { randomIds, type NewIds } from '#domain/ids.ts';
import { readSessionRules } from '#domain/tokens/session-rules.ts';
import { prepareFile } from '#files/durable.ts';
import { createAuthority, type Authority } from '#macaroons/authority.ts';
import { createDischargerKeys, type DischargerKeys } from '#macaroons/discharger-keys.ts';
import { latestTime, type LatestTime } from '#macaroons/latest-time.ts';
import { createRootKeys, type RootKeys } from '#macaroons/root-keys.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { refuseForeignKey } from '#macaroons/site-key.ts';
import type { StoreRecords } from '#records/index.ts';
import { createSignedTokens, type SignedTokens } from '#registry/signed-tokens.ts';
import { readConfig, type Config } from '#configuration/config.ts';
import { makeSigningCertificate } from '#tls/certificates.ts';
import type { TlsKeeperOptions } from '#tls/keeper.ts';
import { recordsPlace } from './records-place.ts';
import { openRecords, type AuditSealing, type OpenDatabase, type OpenRecordsOptions } from './records.ts';
import { readSiteKey } from './secrets.ts';
import type { Upgrade } from './upgrade.ts';

export interface StoreOptions {
  /** The data directory. */
  directory: string;
  now?: Now;
  /** A monotonic clock in milliseconds, which shows when `now` jumps. */
  elapsed?: (() => number) | undefined;
  newId?: NewIds;
  /** The folder of systemd's credentials, if there is one. */
  credentials?: string | undefined;
  /** Called once, with the place in words for a person, if the server of the records does not answer yet. */
  waits?: (place: string) => void;
  /** Called if the store can no longer be served, such as after a disk failure. The process must end at once with this error. */
  fatal?: (error: Error) => void;
}

/** The records of a data directory and the services that change them, for commands on the host. */
export interface StoreHandle {
  directory: string;
  config: Config;
  records: StoreRecords;
  acts: Acts;
  database: OpenDatabase;
  authority: Authority;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  /** The key that seals secrets in the records. */
  siteKey: Buffer;
  sealing: AuditSealing;
  now: Now;
  newId: NewIds;
  /** The upgrade that opening the store has run, if any. */
  upgrade: Upgrade | undefined;
  close(): Promise<void>;
}

/** Opens the records, alongside a serving process or without one. */
export async function openStore(options: StoreOptions & OpenRecordsOptions): Promise<StoreHandle> {
  const { directory, now = () => new Date(), newId = randomIds, credentials } = options;
  const config = readConfig(join(directory, 'larder.toml'));
  const siteKey = readSiteKey({ directory, credentials, masterKeyFile: undefined });
  const place = recordsPlace(directory, config, credentials, options.waits);
  let serving: Pick<StoreHandle, 'config'> = { config };
  const actRules = (): ActRules => {
    const { approvals, sessions } = serving.config;
    const reauthentication = { acts: sessions.reauthenticate, minutes: sessions.reauthenticate_minutes };
    return { approvals: () => readPolicy(approvals), reauthentication };
  };
  const opening = { ...options, place, siteKey, actRules };
  const { records, acts, close, ...opened } = await openRecords(directory, opening);
  try {
    await refuseForeignKey(records, siteKey);
    await settleSeals(records);
    const latest = latestTime(now, options.elapsed);
    const clock = (): Date => latest.now();
    const life = (): number => store.config.identity.root_key_days;
    const rootKeys = createRootKeys({ records, acts, siteKey, newId, clock, life });
    const dischargerKeys = createDischargerKeys({ records, acts, siteKey, clock });
    const location = (): string => store.config.http.base_url;
    const authority = createAuthority({
      records,
      acts,
      rootKeys,
      dischargerKeys,
      latestTime: latest,
      newId,
      location,
      longestLife: () => days(store.config.identity.longest_token_days),
      requiresTotp: () => store.config.identity.require_totp,
      certificateRoles: () => store.config.identity.certificates.require_certificate,
      sessionRules: () => readSessionRules(store.config.sessions),
    });
    const parts = { records, acts, authority, rootKeys, dischargerKeys, latestTime: latest };
    const store: StoreHandle = { directory, config, ...parts, ...opened, siteKey, now, newId, close };
    // A server replaces `config` in this object when it reloads the configuration.
    serving = store;
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Completes the seals of the audit log, if a killed process or a release without seals left them behind. */
async function settleSeals(records: StoreRecords): Promise<void> {
  await records.settleSeals();
  if ((await records.auditSeals.newest()) === undefined) await records.seal();
}

/** Returns the registry tokens of a store, for a server or for a command on the host. */
export const signedTokensOf = ({
  records,
  acts,
  latestTime: latest,
  newId,
  siteKey,
}: Omit<StoreHandle, 'close'>): SignedTokens =>
  createSignedTokens({
    records,
    acts,
    clock: () => latest.now(),
    newId,
    seal: (secret, purpose) => seal(siteKey, secret, purpose),
    unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
    certify: makeSigningCertificate,
  });

/** Returns how the certificates of a data directory are stored. */
export const toTlsKeeperOptions = (directory: string, siteKey: Buffer, now: Now): TlsKeeperOptions => ({
  directory,
  now,
  seal: (secret, purpose) => seal(siteKey, secret, purpose),
  unseal: (text, purpose) => unseal(siteKey, text, purpose),
  write: (file, content, mode) => {
    prepareFile(file, content, mode).place();
  },
});
