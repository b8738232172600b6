import { parseAssertion } from '#assertions/assertion.ts';
import { inNamespace, outOfReach } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { defaultType, packageTypes } from '#domain/namespace.ts';
import { reachesPackage } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import { by } from '../by.ts';
import { claimName, refuseBadName } from './claim-name.ts';

export const registerName = operation({
  name: 'register_name',
  method: 'POST',
  path: '/v1/:namespace',
  since: 1,
  summary: 'Register a package name in a namespace.',
  access: inNamespace('account-register-package'),
  body: 'RegisterNameRequest',
  response: 'RegisterNameResponse',
  refuses: ['account-not-found', 'already-owned', 'already-registered', 'reserved-name'],

  async handle(call) {
    const { namespace, principal, body, records, config, newId, now } = call;
    const { name } = body;
    const type = body.type ?? defaultType(namespace);
    if (!packageTypes(namespace).includes(type)) {
      throw new Refusal('api-error', `'${type}' is not one of ${JSON.stringify(packageTypes(namespace))} at /type`);
    }
    refuseBadName(name, config.names.reserved);
    if (typeof body.team === 'string') {
      throw new Refusal('account-not-found', `There is no team '${body.team}'; this store has no teams.`);
    }
    if (!reachesPackage(principal, { type, name })) throw outOfReach({ name });

    const id = (namespace === 'snap' ? await onlineId(records, name, principal.accountId) : undefined) ?? newId.id();
    const at = timestamp(now());
    const entry = { ...by(call, 'register_name'), at, object: `${namespace}/${name}`, details: { id } };
    const wanted = { id, namespace, name, type, publisherId: principal.accountId, private: body.private ?? false };
    await records.change(entry, (tx) => claimName(tx, { ...wanted, createdAt: at }));
    return { id };
  },
});

/** The id that the snap has online, as an imported snap-declaration says that names this account as its publisher. */
async function onlineId(
  records: Pick<Records, 'assertions'>,
  name: string,
  accountId: string,
): Promise<string | undefined> {
  for (const { text } of await records.assertions.ofSnap(name)) {
    const { headers } = parseAssertion(text);
    if (headers['publisher-id'] === accountId) return headers['snap-id'] as string;
  }
  return undefined;
}
