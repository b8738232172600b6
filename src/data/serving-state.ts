// Whether a process serves a data directory, and what it says of itself.
import { readFileSync } from 'node:fs';

import type { ScrubState } from '#integrity/scrub.ts';
import type { JobState } from '#jobs/runner.ts';
import { DataDirectoryInUse, lockDirectory } from './lock.ts';
import { stateFile } from './state-file.ts';

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

/** What the serving process said last; nothing when the directory is not being served. */
export function servingState(data: string): ServingState | undefined {
  try {
    lockDirectory(data).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
  }
  try {
    return JSON.parse(readFileSync(stateFile(data), 'utf8')) as ServingState;
  } catch {
    // It begins or ends at this moment, or something else holds the directory.
    return undefined;
  }
}
