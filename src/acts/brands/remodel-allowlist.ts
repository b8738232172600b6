// The remodel allowlist: which devices may become another model of their brand.
import { Refusal } from '#domain/refusal.ts';
import type { Remodel, RemodelEntry } from '#records/brands/remodel-allowlist.ts';
import { act } from '../act.ts';
import { authorOf } from './brands.ts';
import { noModel } from './models.ts';

/** A list of remodels of one brand. Either all of them are changed or none. */
export interface Remodels<One extends Remodel> {
  brandAccountId: string;
  remodels: One[];
}

type RemodelWithDescription = Remodel & Pick<RemodelEntry, 'description'>;

const object = ({ brandAccountId }: { brandAccountId: string }): string => `brand/${brandAccountId}/remodel-allowlist`;

export const addRemodels = act<Remodels<RemodelWithDescription>, RemodelEntry[]>({
  name: 'add_remodel_allowlist',
  summary: 'Permit remodels: all of the list, or none if one of them is permitted already.',
  on: 'brand/ACCOUNT-ID/remodel-allowlist',
  object,
  gate: { never: 'the serial policies of the brand decide on the device too' },

  async perform(tx, { brandAccountId, remodels }, { at, actor, note }) {
    refuseTwins(remodels);
    for (const name of new Set(remodels.flatMap(({ fromModel, toModel }) => [fromModel, toModel]))) {
      if ((await tx.models.find(brandAccountId, name)) === undefined) throw noModel(brandAccountId, name);
    }
    const createdBy = await authorOf(tx, actor, brandAccountId);
    const made = { createdAt: at, createdBy, modifiedAt: null, modifiedBy: null };
    const entries = remodels.map((remodel) => ({ ...remodel, ...made }));
    for (const entry of entries) {
      if (!(await tx.remodelAllowlist.claim(brandAccountId, entry))) {
        throw new Refusal('conflict', `The allowlist has the remodel ${inWords(entry)} already. Nothing was added.`);
      }
    }
    note({ remodels: entries.map(inWords) });
    return entries;
  },
});

export const updateRemodels = act<Remodels<RemodelWithDescription>, RemodelEntry[]>({
  name: 'update_remodel_allowlist',
  summary: 'Change the descriptions of permitted remodels: all of the list, or none.',
  on: 'brand/ACCOUNT-ID/remodel-allowlist',
  object,
  gate: { never: 'a description is for people to read and permits nothing' },

  async perform(tx, { brandAccountId, remodels }, { at, actor, note }) {
    refuseTwins(remodels);
    const author = await authorOf(tx, actor, brandAccountId);
    const changed = [];
    for (const remodel of remodels) {
      await tx.remodelAllowlist.describe(brandAccountId, { ...remodel, at, actor: author });
      const now = await tx.remodelAllowlist.find(brandAccountId, remodel);
      if (now === undefined) throw noRemodel(remodel);
      changed.push(now);
    }
    note({ remodels: remodels.map(inWords) });
    return changed;
  },
});

export const deleteRemodels = act<Remodels<Remodel>, void>({
  name: 'delete_remodel_allowlist',
  summary: 'Remove permitted remodels: all of the list, or none.',
  on: 'brand/ACCOUNT-ID/remodel-allowlist',
  object,
  gate: { never: 'a remodel that must not happen has to be stopped at once' },

  async perform(tx, { brandAccountId, remodels }, { note }) {
    refuseTwins(remodels);
    for (const remodel of remodels) {
      if (!(await tx.remodelAllowlist.remove(brandAccountId, remodel))) throw noRemodel(remodel);
    }
    note({ remodels: remodels.map(inWords) });
  },
});

/** Refuses a list that names a remodel twice, because only one of the two can apply. */
function refuseTwins(remodels: readonly Remodel[]): void {
  const seen = new Set<string>();
  for (const remodel of remodels) {
    const name = inWords(remodel);
    if (seen.has(name)) throw new Refusal('api-error', `The list names the remodel ${name} twice at /allowlist`);
    seen.add(name);
  }
}

const noRemodel = (remodel: Remodel): Refusal =>
  new Refusal('resource-not-found', `The allowlist has no remodel ${inWords(remodel)}; nothing was changed.`);

const inWords = ({ fromModel, fromSerial, toModel }: Remodel): string =>
  `from '${fromModel}' ${fromSerial === null ? 'with any serial' : `with the serial '${fromSerial}'`} to '${toModel}'`;
