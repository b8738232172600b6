// The options of an appliance.
import type { Logger } from 'pino';

import type { ConnectionLimits } from '#http/connection-limits.ts';
import type { PlaceOptions } from '#blobs/upload-places.ts';
import type { StoreOptions } from '#data/store.ts';
import type { ScrubOptions } from '#integrity/scrub.ts';
import type { LogFormat } from '#platform/log.ts';
import type { PartsWatch } from './parts.ts';
import type { Team } from './team.ts';

export interface ApplianceOptions extends StoreOptions {
  /** Whether another process, which holds the data directory, already serves it: both then serve one store. */
  alongside?: boolean;
  /** The group of workers that this process belongs to; the supervisor holds the data directory for all of them. */
  team?: Team;
  /** The environment of the process; the key manager gets the variables that the configuration names. */
  env?: Readonly<Record<string, string | undefined>>;
  /** HOST:PORT instead of the configuration's. */
  listen?: string | undefined;
  log?: Logger;
  /** The format of the log, instead of the configured one. */
  logFormat?: LogFormat | undefined;
  /** Whether every response is validated against its shape; for development and tests. */
  checkAnswers?: boolean;
  /** Limits on connections, uploads and jobs instead of the store's own; for tests. */
  limits?: {
    connections?: Partial<ConnectionLimits>;
    uploads?: Partial<PlaceOptions>;
    scrub?: Partial<Pick<ScrubOptions, 'rest' | 'retry'>>;
    /** Milliseconds between two checks of the watched folder, and of the key manager. */
    watchMs?: number;
  };
  /** Milliseconds from the start to the first run of the jobs; default 5000. */
  jobsAfter?: number;
  /** Whether the process ends if its event loop is blocked for 30 s; not if others share the process. */
  watchdog?: boolean;
  /** Called as each part starts and stops; for tests. */
  parts?: PartsWatch;
}
