// What every handler may use; the appliance builds it once.
import type { Logger } from 'pino';

import type { Acts } from '#acts/act.ts';
import type { Roots } from '#assertions/chain.ts';
import type { CohortKeys } from '#assertions/cohort-keys.ts';
import type { Custody } from '#assertions/custody.ts';
import type { RequestIds } from '#assertions/request-ids.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { Downloads } from '#blobs/downloads.ts';
import type { Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Rates } from '#domain/rate.ts';
import type { Authority } from '#macaroons/authority.ts';
import type { DeviceSessions } from '#macaroons/device-sessions.ts';
import type { Discharger } from '#macaroons/discharger.ts';
import type { Records } from '#records/index.ts';
import type { Registry } from '#registry/registry.ts';
import type { ChangeFeed } from '#shared/change-feed.ts';
import type { Config } from '#src/config.ts';
import type { Fault } from '#src/faults.ts';
import type { Documents } from './documents/page.ts';
import type { HandlerRecords } from './handler-records.ts';
import type { LastHour } from './last-hour.ts';
import type { Metrics } from './metrics.ts';
import type { UnknownProxies } from './unknown-proxies.ts';
import type { Identity } from './identity.ts';
import type { TransferDesk } from './transfer-desk.ts';

/** What was found out about one thing, as 'larder doctor' tells of it. */
export interface Examined {
  what: string;
  level: 'well' | 'notice' | 'wrong' | 'not looked at';
  /** A clause, without a full stop. */
  says: string;
  /** What to do about it, in whole sentences. */
  mend?: string | undefined;
}

/** The header by which a command on the host shows the secret that it has read in the data directory. */
export const servingSecretHeader = 'larder-serving-secret';

export interface Services {
  records: HandlerRecords;
  /** What may be done to the records. */
  acts: Acts;
  authority: Authority;
  discharger: Discharger;
  identity: Identity;
  registry: Registry;
  /** Transfers that came in. */
  transfers: TransferDesk;
  blobs: Blobs;
  /** Makes and uses the signing keys; refuses while the store is sealed. */
  custody: Custody;
  /** What assertions that come in must lead to. */
  roots: () => Roots;
  requestIds: RequestIds;
  deviceNonces: RequestIds;
  cohortKeys: CohortKeys;
  /** How often each client asked for nonces and sessions that nobody has proven. */
  proofRates: Rates;
  /** What devices and controllers download at the moment. */
  downloads: Downloads;
  /** What devices are known by that have proven their serials. */
  deviceSessions: DeviceSessions;
  /** The configuration as it stands now; a reload changes it between calls. */
  config: Config;
  /** The same as it was when this process started. */
  startedWith: Config;
  /** The account and the digests of the store administrator's credential, as the configuration file has them now. */
  administrator: () => Config['auth'];
  now: Now;
  newId: NewIds;
  log: Logger;
  /** What is done to the store, for those who follow it. */
  changeFeed: ChangeFeed;
  /** Tells the review queue that an upload has been claimed. */
  reviewSoon: () => void;
  /** Tells that assertions came in, for which revisions may have waited to be signed. */
  signSoon: () => void;
  /** How the appliance is: what somebody should look at, and whether it can still do its work. */
  health: () => Promise<{
    working: boolean;
    problems: string[];
    notices: string[];
    faults: readonly Fault[];
    /** Where several processes serve the store together. */
    workers?: { serving: number; wanted: number } | undefined;
  }>;
  /** What the processes that serve the store say of themselves, for a caller with the secret; undefined for any other. */
  serving: (secret: string) => Promise<Record<string, unknown> | undefined>;
  /** How the store is, as somebody wants to know it who looks after it. */
  examined: () => Promise<readonly Examined[]>;
  /** Bytes of the disk that the data directory is on. */
  disk: () => { diskFreeBytes: number; diskSizeBytes: number };
  lastHour: LastHour;
  /** What clients of this store trust, where it proves itself with an authority of its own: PEM. */
  authorityCertificate: () => string | undefined;
  /** Lets the catalog of snaps and charms say what was committed before. */
  catalogUpToDate: () => Promise<void>;
  unknownProxies: UnknownProxies;
  metrics: Metrics;
  documents: Documents;
  /** The release of larder that runs. */
  version: string;
}

/** What the server works with: the services of handlers, and all of the records for the access rules. */
export interface ServerServices extends Omit<Services, 'records'> {
  records: Records;
}
