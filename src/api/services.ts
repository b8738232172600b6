// What every handler may use; the appliance builds it once.
import type { KeyObject } from 'node:crypto';

import type { Logger } from 'pino';

import type { Signer } from '#assertions/signer.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Authority } from '#macaroons/authority.ts';
import type { Discharger } from '#macaroons/discharger.ts';
import type { Records } from '#records/index.ts';
import type { Registry } from '#registry/registry.ts';
import type { Config } from '#src/config.ts';
import type { Identity } from './identity.ts';

export interface Services {
  records: Records;
  authority: Authority;
  discharger: Discharger;
  identity: Identity;
  registry: Registry;
  blobs: Blobs;
  signer: Signer;
  /** The signing master key; absent while the store is sealed. */
  masterKey: () => KeyObject | undefined;
  /** The configuration as it stands now; a reload changes it between calls. */
  config: Config;
  now: Now;
  newId: NewIds;
  log: Logger;
  /** Tells the review queue that an upload has been claimed. */
  reviewSoon: () => void;
  /** How the appliance is: what somebody should look at, and whether it can still do its work. */
  health: () => { working: boolean; problems: string[] };
  /** The release of larder that runs. */
  version: string;
}
