import type { Remodel as RemodelShape, RemodelAllowlistEntry } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Remodel, RemodelEntry } from '#records/remodel-allowlist.ts';

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

/** What names an entry, as a request says it. */
export const remodelOf = (asked: RemodelShape): Remodel => ({
  fromModel: asked['from-model'],
  fromSerial: asked['from-serial'],
  toModel: asked['to-model'],
});

/** Refuses a list that names one entry twice: only one of the two could be meant. */
export function refuseTwins(remodels: readonly Remodel[]): void {
  const seen = new Set<string>();
  for (const remodel of remodels) {
    const name = inWords(remodel);
    if (seen.has(name)) throw new Refusal('api-error', `The list names the remodel ${name} twice at /allowlist`);
    seen.add(name);
  }
}

export const noRemodel = (remodel: Remodel): Refusal =>
  new Refusal('resource-not-found', `The allowlist has no remodel ${inWords(remodel)}; nothing was changed.`);

export const inWords = ({ fromModel, fromSerial, toModel }: Remodel): string =>
  `from '${fromModel}' ${fromSerial === null ? 'with any serial' : `with the serial '${fromSerial}'`} to '${toModel}'`;
