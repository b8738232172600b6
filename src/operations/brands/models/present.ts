import type { Model as ModelShape } from '#contract/wire.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { Model } from '#records/brands/models.ts';
import { presentMakers } from '../present.ts';

export const presentModel = (model: Model, people: Map<string, Account>): ModelShape => ({
  'api-key': model.apiKey,
  'brand-account-id': model.brandAccountId,
  name: model.name,
  series: model.series,
  ...presentMakers(model, people),
});
