import type { Remodel as RemodelShape, RemodelAllowlistEntry } from '#contract/wire.ts';
import type { Remodel, RemodelEntry } from '#records/brands/remodel-allowlist.ts';

export const presentRemodelEntry = (entry: RemodelEntry): RemodelAllowlistEntry => ({
  'from-model': entry.fromModel,
  'from-serial': entry.fromSerial,
  'to-model': entry.toModel,
  description: entry.description,
  'created-at': entry.createdAt,
  'created-by': entry.createdBy,
  'modified-at': entry.modifiedAt,
  'modified-by': entry.modifiedBy,
});

/** Converts the wire form of a remodel. */
export const remodelOf = (item: RemodelShape): Remodel => ({
  fromModel: item['from-model'],
  fromSerial: item['from-serial'],
  toModel: item['to-model'],
});
