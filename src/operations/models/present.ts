import type { Model as ModelShape } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts.ts';
import type { Model } from '#records/models.ts';
import { presentMakers } from '../brands/present.ts';

export const presentModel = (model: Model, people: Map<string, Account>): ModelShape => ({
  'api-key': model.apiKey,
  'brand-account-id': model.brandAccountId,
  name: model.name,
  series: model.series,
  ...presentMakers(model, people),
});

/** The refusal of a model that a brand does not have. */
export const noModel = (brandAccountId: string, name: string): Refusal =>
  new Refusal('resource-not-found', `Brand ${brandAccountId} has no model '${name.slice(0, 128)}'.`);
