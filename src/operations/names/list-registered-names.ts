import { inNamespace } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { reachesPackage } from '#domain/principal.ts';
import { membersIn, pick } from '../present.ts';
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
    const members = membersIn(query.fields);
    const own = await records.packages.publishedBy(principal.accountId, namespace);
    const shared =
      query['include-collaborations'] === 'true'
        ? await records.packages.sharedWith(principal.accountId, namespace)
        : [];
    const found = [...own, ...shared].filter((one) => reachesPackage(principal, one));
    const sharedIds = shared.map(({ id }) => id);
    const besides = async <Row extends { packageId: string }>(member: string, rows: Beside<Row>) => {
      if (!members.has(member)) return undefined;
      const ofOwn = await rows.ofPublisher(principal.accountId, namespace);
      const ofShared = sharedIds.length === 0 ? [] : await rows.listOf(sharedIds);
      return Map.groupBy([...ofOwn, ...ofShared], ({ packageId }) => packageId);
    };
    const tracks = await besides('tracks', records.tracks);
    const guardrails = await besides('track-guardrails', records.guardrails);
    const of = (id: string) => ({ tracks: tracks?.get(id) ?? [], guardrails: guardrails?.get(id) ?? [] });
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { results: found.map((one) => pick(presentPackage(one, of(one.id), store), members)) };
  },
});

/** What stands beside packages, such as their tracks. */
interface Beside<Row> {
  ofPublisher(accountId: string, namespace: string): Promise<Row[]>;
  listOf(packageIds: string[]): Promise<Row[]>;
}
