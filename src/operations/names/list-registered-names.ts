import { inNamespace } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { reachesPackage } from '#domain/principal.ts';
import { pick } from '../present.ts';
import { presentPackage } from './present.ts';

export const listRegisteredNames = operation({
  name: 'list_registered_names',
  method: 'GET',
  path: '/v1/:namespace',
  since: 1,
  summary: 'List the names that the account has registered in a namespace.',
  access: inNamespace('account-view-packages'),
  query: 'ListRegisteredNamesQuery',
  response: 'ListRegisteredNamesResponse',

  async handle({ namespace, principal, query, records, config }) {
    const own = await records.packages.publishedBy(principal.accountId, namespace);
    const shared =
      query['include-collaborations'] === 'true'
        ? await records.packages.sharedWith(principal.accountId, namespace)
        : [];
    const found = [...own, ...shared].filter((one) => reachesPackage(principal, one));
    const ids = found.map(({ id }) => id);
    const tracks = Map.groupBy(await records.tracks.listOf(ids), ({ packageId }) => packageId);
    const guardrails = Map.groupBy(await records.guardrails.listOf(ids), ({ packageId }) => packageId);
    const of = (id: string) => ({ tracks: tracks.get(id) ?? [], guardrails: guardrails.get(id) ?? [] });
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return {
      results: found.map((one) => pick(presentPackage(one, of(one.id), store), query.fields)),
    };
  },
});
