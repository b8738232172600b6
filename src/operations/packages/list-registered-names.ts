import { inNamespace } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { withLatest } from '#records/releases/tracks.ts';
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
    const packages = [...own, ...shared].filter((subject) => reachesPackage(principal, subject));
    const groupIfRequested = async <Row extends { packageId: string }>(member: string, rows: PackageRows<Row>) =>
      members.has(member)
        ? Map.groupBy(await rows.ofAccount(principal.accountId, namespace), ({ packageId }) => packageId)
        : undefined;
    const tracks = await groupIfRequested('tracks', records.tracks);
    const guardrails = await groupIfRequested('track-guardrails', records.guardrails);
    const of = (subject: PublishedPackage) => ({
      tracks: tracks === undefined ? [] : withLatest(tracks.get(subject.id) ?? [], subject),
      guardrails: guardrails?.get(subject.id) ?? [],
    });
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { results: packages.map((subject) => pick(presentPackage(subject, of(subject), store), members)) };
  },
});

/** Rows that belong to packages, such as their tracks. */
interface PackageRows<Row> {
  ofAccount(accountId: string, namespace: string): Promise<Row[]>;
}
