// The records as handlers see them, without the functions that find a guarded record by name or id. Only access rules have those.
import type { StoreRecords } from '#records/index.ts';

type WithoutFinders<Noun extends keyof StoreRecords, Finders extends keyof StoreRecords[Noun]> = Record<
  Noun,
  Omit<StoreRecords[Noun], Finders>
>;

/**
 * The records for a handler. Packages, brands, keys and builds have owners: the access rule of the operation decides about them and passes
 * them to the handler as evidence. Handlers change records through acts.
 */
export type HandlerRecords = Omit<
  StoreRecords,
  'packages' | 'brands' | 'signingKeys' | 'buildSets' | 'commitWorkflows' | 'seal' | 'settleSeals'
> &
  WithoutFinders<'packages', 'find' | 'byId' | 'forDevices'> &
  WithoutFinders<'brands', 'find'> &
  WithoutFinders<'signingKeys', 'find'> &
  WithoutFinders<'buildSets', 'find'> &
  WithoutFinders<'commitWorkflows', 'find'>;
