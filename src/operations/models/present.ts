import type { Model as ModelShape } from '#api/wire.ts';
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
