import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { ListPackagesQuery } from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { isNamespace } from '#domain/packages/namespace.ts';
import { Refusal } from '#domain/refusal.ts';
import type { InventoryFilter } from '#records/packages/inventory.ts';
import { writeCursor } from '../cursor.ts';
import { pageSize, placeOf } from '../page.ts';
import { presentStorePackage } from '../store/present.ts';

export const listPackages = operation({
  name: 'list_packages',
  method: 'GET',
  path: '/internal/v1/packages',
  since: 0,
  summary:
    'List the packages of the store by namespace and name, page by page, with filters for publisher, channel, size and age.',
  access: storeAdministrator('store-view'),
  query: 'ListPackagesQuery',
  response: 'ListPackagesResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [namespace, name] = placeOf(query, ['', ''] as const);
    const { packages, next } = await records.inventory.packages(wantedBy(query), { namespace, name }, size);
    const cursor = next === undefined ? null : writeCursor([next.namespace, next.name]);
    return { packages: packages.map(presentStorePackage), 'next-cursor': cursor };
  },
});

/** The filters of a query. */
function wantedBy(query: ListPackagesQuery): InventoryFilter {
  if (query.namespace !== undefined && !isNamespace(query.namespace)) {
    throw new Refusal('api-error', `There is no namespace '${query.namespace}' at /namespace`);
  }
  const channel = query.channel === undefined ? null : parseChannel(query.channel);
  if (channel === undefined) throw new Refusal('api-error', 'This is not a channel at /channel');
  const moment = (text: string | undefined): string | null => (text === undefined ? null : timestamp(new Date(text)));
  return {
    namespace: query.namespace ?? null,
    publisher: query.publisher ?? null,
    channel: channel?.name ?? null,
    atLeast: query['at-least'] === undefined ? null : Number(query['at-least']),
    registeredBefore: moment(query['registered-before']),
    quietSince: moment(query['quiet-since']),
  };
}
