// The records as handlers see them, without the functions that find a guarded record by name or id. Only access rules have those.
import type { Records } from '#records/index.ts';

type Without<Noun extends keyof Records, Finders extends keyof Records[Noun]> = Record<
  Noun,
  Omit<Records[Noun], Finders>
>;

/**
 * The records for a handler. Packages, brands, keys and builds have owners: the access rule of the operation decides about them and passes
 * them to the handler as evidence. Handlers change records through acts.
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
