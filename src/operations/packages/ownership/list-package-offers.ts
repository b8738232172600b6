import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { pageOf, pageSize, placeOf } from '../../page.ts';

export const listPackageOffers = operation({
  name: 'list_package_offers',
  method: 'GET',
  path: '/internal/v1/package-offers',
  since: 0,
  summary: 'List the packages that are offered to this account, page by page.',
  access: account('packages', 'account-view-packages'),
  query: 'PageQuery',
  response: 'ListPackageOffersResponse',

  async handle({ principal, query, records, now }) {
    const size = pageSize(query);
    const [after] = placeOf(query, [''] as const);
    const rows = await records.packageOffers.to(principal.accountId, timestamp(now()), after, size + 1);
    const { entries, next } = pageOf(rows, size, (offer) => [offer.packageId]);
    const offers = entries.filter((offer) => reachesPackage(principal, { ...offer, id: offer.packageId }));
    return {
      offers: offers.map((offer) => ({
        namespace: offer.namespace,
        name: offer.name,
        from: { id: offer.offeredBy, username: offer.username },
        'offered-at': offer.offeredAt,
        'expires-at': offer.expiresAt,
      })),
      'next-cursor': next,
    };
  },
});
