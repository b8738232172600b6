// How an appliance is started.
import type { Logger } from 'pino';

import type { ConnectionLimits } from '#api/connections.ts';
import type { PlaceOptions } from '#blobs/places.ts';
import type { StoreOptions } from '#data/store.ts';
import type { ScrubOptions } from '#integrity/scrub.ts';
import type { LogFormat } from '#src/log.ts';
import type { PartsWatch } from './parts.ts';
import type { Team } from './team.ts';

export interface ApplianceOptions extends StoreOptions {
  /** Whether another process, which holds the data directory, serves it already: both then serve one store. */
  beside?: boolean;
  /** The processes among which this one serves, where somebody else holds the data directory for all of them. */
  team?: Team;
  /** HOST:PORT instead of the configuration's. */
  listen?: string | undefined;
  log?: Logger;
  /** How the lines of the log are written, instead of as the configuration says. */
  logFormat?: LogFormat | undefined;
  /** Whether every answer is held against its shape; for development and tests. */
  checkAnswers?: boolean;
  /** Other limits than the store's own, on connections, uploads, and what comes round again; for tests. */
  limits?: {
    connections?: Partial<ConnectionLimits>;
    uploads?: Partial<PlaceOptions>;
    scrub?: Partial<Pick<ScrubOptions, 'rest' | 'retry'>>;
    /** Milliseconds between two looks into the watched folder. */
    watchMs?: number;
  };
  /** Milliseconds from the start to the first run of what comes round again; five seconds unless said otherwise. */
  jobsAfter?: number;
  /** Told of each part as it starts and stops; for tests. */
  parts?: PartsWatch;
}
