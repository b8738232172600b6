// The services of every handler; the appliance builds them once.
import type { Logger } from 'pino';

import type { Acts } from '#acts/act.ts';
import type { Roots } from '#assertions/chain.ts';
import type { CohortKeys } from '#assertions/devices/cohort-keys.ts';
import type { KeyCustody } from '#assertions/keys/key-custody.ts';
import type { RequestIds } from '#assertions/devices/request-ids.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { DownloadLimiter } from '#blobs/download-limiter.ts';
import type { Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { RateLimiter } from '#domain/rate-limit.ts';
import type { Authority } from '#macaroons/authority.ts';
import type { DeviceSessions } from '#macaroons/device-sessions.ts';
import type { Discharger } from '#macaroons/discharger.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Registry } from '#registry/registry.ts';
import type { ChangeFeed } from '#shared/change-feed.ts';
import type { Config } from '#configuration/config.ts';
import type { Fault } from '#platform/faults.ts';
import type { BackupDesk } from './backup-desk.ts';
import type { FeedDesk } from './feed-desk.ts';
import type { HandlerRecords } from './handler-records.ts';
import type { LastHour } from './metrics/last-hour.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { UnknownProxies } from './request/unknown-proxies.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { Html } from './pages/html.ts';
import type { TransferDesk } from './transfer-desk.ts';

export interface DocumentPage {
  type: string;
  text: string;
}

export interface Documents {
  /** The page at `/docs/<name>`; the empty name is the first page. */
  page(name: string): DocumentPage | undefined;
  /** The page with the results of a query. */
  search(query: string): DocumentPage;
  /** The results of a query, for a page of another kind. */
  searchResults(query: string): Html;
  /** The OpenAPI document of the operations that the configuration turns on; as bytes, because encoding that much text costs 4 ms. */
  openapi(config: Config): Uint8Array;
}

/** The result of one examination, as 'larder doctor' prints it. */
export interface ExaminationResult {
  what: string;
  level: 'well' | 'notice' | 'wrong' | 'not looked at';
  /** A clause, without a full stop. */
  says: string;
  /** The remedy, in whole sentences. */
  mend?: string | undefined;
}

/** A command on the host sends the secret from the data directory in this header. */
export const servingSecretHeader = 'larder-serving-secret';

export interface Services {
  records: HandlerRecords;
  /** The acts on the records. */
  acts: Acts;
  authority: Authority;
  discharger: Discharger;
  identity: IdentityProvider;
  registry: Registry;
  /** Received transfers. */
  transfers: TransferDesk;
  /** Feeds of advisories that people upload at pages. */
  feeds: FeedDesk;
  /** Backups and drills that people begin at pages. */
  backups: BackupDesk;
  blobs: Blobs;
  /** Makes and uses the signing keys; refuses while the store is sealed. */
  custody: KeyCustody;
  /** The trusted roots: the chain of trust of a received assertion must lead to them. */
  roots: () => Roots;
  requestIds: RequestIds;
  deviceNonces: RequestIds;
  cohortKeys: CohortKeys;
  /** How often each client requested nonces and sessions without a proof. */
  proofRates: RateLimiter;
  /** The running downloads of devices and controllers. */
  downloads: DownloadLimiter;
  /** The sessions of devices that have proven their serials. */
  deviceSessions: DeviceSessions;
  /** The present configuration; a reload changes it between calls. */
  config: Config;
  /** The configuration at the start of this process. */
  startedWith: Config;
  /** The account and the digests of the store administrator's credential, from the present configuration file. */
  administrator: () => Config['auth'];
  now: Now;
  newId: NewIds;
  log: Logger;
  /** The acts on the store, for programs that follow it. */
  changeFeed: ChangeFeed;
  /** Tells the review queue that an upload has been claimed. */
  reviewSoon: () => void;
  /** Tells the signing job that assertions arrived; revisions may have waited for them. */
  signSoon: () => void;
  /** The state of the appliance: its faults, and whether it can still work. */
  health: () => Promise<{
    working: boolean;
    problems: string[];
    notices: string[];
    faults: readonly Fault[];
    /** If several processes serve the store together. */
    workers?: { serving: number; wanted: number } | undefined;
  }>;
  /** The state of the serving processes, for a caller with the secret; undefined for any other caller. */
  serving: (secret: string) => Promise<Record<string, unknown> | undefined>;
  /** The results of all examinations, for administrators. */
  examined: () => Promise<readonly ExaminationResult[]>;
  /** Bytes of the disk of the data directory. */
  disk: () => { diskFreeBytes: number; diskSizeBytes: number };
  lastHour: LastHour;
  /** The authority certificate that clients trust, if the store has its own authority: PEM. */
  authorityCertificate: () => string | undefined;
  /** When the certificate of the server expires; undefined if the store serves plain HTTP. */
  certificateEnd: () => Date | undefined;
  /** Brings the catalog of snaps and charms up to date with all earlier commits. */
  catalogUpToDate: () => Promise<void>;
  unknownProxies: UnknownProxies;
  metrics: Metrics;
  documents: Documents;
  /** The running release of larder. */
  version: string;
}

/** The services of handlers, plus all records for the access rules. */
export interface ServerServices extends Omit<Services, 'records'> {
  records: StoreRecords;
}
