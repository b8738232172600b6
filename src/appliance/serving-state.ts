// What the serving process says of itself, for commands on the host.
import type { ScrubState } from '#integrity/scrub.ts';
import type { JobState } from '#jobs/runner.ts';

/** What the serving process says of itself, in a file of the data directory. */
export interface ServingState {
  pid: number;
  url: string;
  version: string;
  since: string;
  level: string;
  sealed: boolean;
  certificate: { ends: Date | string; hosts: string[]; fingerprint: string } | undefined;
  problems: string[];
  notices?: string[];
  jobs: JobState[];
  scrub: ScrubState;
}
