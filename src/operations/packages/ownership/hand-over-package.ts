import { handOverPackage as act } from '#acts/packages/ownership.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../../caller.ts';

export const handOverPackage = operation({
  name: 'hand_over_package',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/publisher',
  since: 0,
  summary: 'Make another account the publisher of a package, for example after its publisher was disabled.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'HandOverPackageRequest',
  response: 'HandedOver',
  refuses: ['conflict', 'forbidden'],

  async handle(call) {
    const { package: subject, body, acts, config } = call;
    const { namespace, name } = subject;
    const to = body['account-id'];
    const defaultQuota = readDefaultQuota(config.quotas);
    const { before } = await acts.do(act, caller(call), { package: subject, accountId: to, defaultQuota });
    return { namespace, name, from: before, to };
  },
});
