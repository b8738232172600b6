import { refuseName, registerName as act } from '#acts/packages/registration.ts';
import { inNamespace, packageOutOfScope } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { defaultType, packageTypes } from '#domain/packages/namespace.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../caller.ts';

export const registerName = operation({
  name: 'register_name',
  method: 'POST',
  path: '/v1/:namespace',
  since: 1,
  summary: 'Register a package name in a namespace.',
  access: inNamespace('account-register-package'),
  body: 'RegisterNameRequest',
  response: 'RegisterNameResponse',
  refuses: ['account-not-found', 'already-owned', 'already-registered', 'conflict', 'reserved-name', 'forbidden'],

  async handle(call) {
    const { namespace, principal, body, acts, config, newId } = call;
    const { name } = body;
    const type = body.type ?? defaultType(namespace);
    if (!packageTypes(namespace).includes(type)) {
      throw new Refusal('api-error', `'${type}' is not one of ${JSON.stringify(packageTypes(namespace))} at /type`);
    }
    const { reserved } = config.names;
    // Report an invalid or reserved name before a problem with the token or a team.
    refuseName({ namespace, name, reserved });
    if (typeof body.team === 'string') {
      throw new Refusal('account-not-found', `There is no team '${body.team}'. This store has no teams.`);
    }
    if (!reachesPackage(principal, { type, name })) throw packageOutOfScope({ name });
    const registration = { namespace, name, type, publisherId: principal.accountId, private: body.private ?? false };
    return acts.do(act, caller(call), {
      ...registration,
      freshId: newId.id(),
      reserved,
      defaultQuota: readDefaultQuota(config.quotas),
    });
  },
});
