// The records as handlers have them: without what finds a guarded thing by its name or id. That is for access rules alone.
import type { Records } from '#records/index.ts';

type Without<Noun extends keyof Records, Finders extends keyof Records[Noun]> = Record<
  Noun,
  Omit<Records[Noun], Finders>
>;

/**
 * What a handler may ask of the records. A package, a brand, a key and a build are somebody's: who they are for is
 * decided by the access rule of the operation, and they reach its handler as evidence or not at all. What is changed is
 * changed by acts.
 */
export type HandlerRecords = Omit<
  Records,
  'packages' | 'brands' | 'signingKeys' | 'buildSets' | 'commitWorkflows' | 'seal' | 'settleSeals'
> &
  Without<'packages', 'find' | 'byId' | 'forDevices'> &
  Without<'brands', 'find'> &
  Without<'signingKeys', 'find'> &
  Without<'buildSets', 'find'> &
  Without<'commitWorkflows', 'find'>;
