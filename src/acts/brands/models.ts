// Models: the kinds of device that a brand makes.
import { isModelName } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Model } from '#records/brands/models.ts';
import { act } from '../act.ts';
import { authorOf } from './brands.ts';

/** The model that an act is about. */
export interface ModelOfBrand {
  brandAccountId: string;
  name: string;
}

type ModelChange = Pick<Model, 'series' | 'apiKey'>;

export const createModel = act<ModelOfBrand & ModelChange, Model>({
  name: 'create_model',
  summary: 'Add a device model to a brand.',
  on: 'brand/ACCOUNT-ID/model/NAME',
  object: objectOf,
  gate: { never: 'no device gets a serial of it before a serial policy names a key' },

  async perform(tx, { brandAccountId, name, series, apiKey }, { at, actor, note }) {
    if (!isModelName(name)) {
      throw new Refusal(
        'api-error',
        'A model name has only lower-case letters, digits and single inner dashes at /name',
      );
    }
    const createdBy = await authorOf(tx, actor, brandAccountId);
    const made = { createdAt: at, createdBy, modifiedAt: null, modifiedBy: null };
    const model = { brandAccountId, name, series, apiKey, ...made };
    if (!(await tx.models.claim(model))) throw new Refusal('conflict', `The brand has a model '${name}' already.`);
    note({ series });
    return model;
  },
});

export const updateModel = act<ModelOfBrand & { change: Partial<ModelChange> }, Model>({
  name: 'update_model',
  summary: 'Change the series or the api-key of a device model.',
  on: 'brand/ACCOUNT-ID/model/NAME',
  object: objectOf,
  gate: { never: 'the model is what its brand signs it to be' },

  async perform(tx, { brandAccountId, name, change }, { at, actor, note }) {
    const model = await tx.models.find(brandAccountId, name);
    if (model === undefined) throw noModel(brandAccountId, name);
    const modifiedBy = await authorOf(tx, actor, brandAccountId);
    const changed = { ...model, ...change, modifiedAt: at, modifiedBy };
    await tx.models.change(changed);
    // Record the changed members but never the api-key, because other people read the audit log.
    note({
      changed: Object.keys(change)
        .map((member) => (member === 'apiKey' ? 'api-key' : member))
        .sort(),
    });
    return changed;
  },
});

export const deleteModel = act({
  name: 'delete_model',
  summary: 'Delete a device model that has neither serial policies nor entries of the remodel allowlist.',
  on: 'brand/ACCOUNT-ID/model/NAME',
  object: objectOf,
  gate: { never: 'devices keep the model that they have' },

  async perform(tx, { brandAccountId, name }: ModelOfBrand) {
    const model = await tx.models.find(brandAccountId, name);
    if (model === undefined) throw noModel(brandAccountId, name);
    const use = await tx.models.inUse(brandAccountId, name);
    if (use === 'serial policies') {
      throw new Refusal('conflict', `The model '${name}' still has serial policies. Delete those first.`);
    }
    if (use !== undefined) {
      throw new Refusal(
        'conflict',
        `The remodel allowlist still names the model '${name}'. Delete those entries first.`,
      );
    }
    await tx.models.remove(brandAccountId, name);
  },
});

/** The error for a model that a brand does not have. */
export const noModel = (brandAccountId: string, name: string): Refusal =>
  new Refusal('resource-not-found', `Brand ${brandAccountId} has no model '${name.slice(0, 128)}'.`);

function objectOf({ brandAccountId, name }: ModelOfBrand): string {
  return `brand/${brandAccountId}/model/${name}`;
}
