// Lists the categories of snaps, which snapd requests before it shows all snaps. This store has one category.
import { anyone } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { featuredCategory } from './find-snaps.ts';

/** HAL, JSON with links: the media type that snapd requires. */
export const hal = 'application/hal+json';

export const snapCategories = operation({
  name: 'snap_categories',
  method: 'GET',
  path: '/v2/snaps/categories',
  since: 0,
  summary: 'List the categories of snaps: a single one with all snaps.',
  access: anyone,
  response: 'SnapCategoriesResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  handle: () => ({ categories: [{ name: featuredCategory }] }),
});

export const snapSections = operation({
  name: 'snap_sections',
  method: 'GET',
  path: '/api/v1/snaps/sections',
  since: 0,
  summary: 'List the categories of snaps, for older devices.',
  access: anyone,
  produces: { [hal]: 'SnapSectionsResponse' },
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  handle: () =>
    new OperationResponse({
      headers: { 'content-type': hal },
      body: JSON.stringify({ _embedded: { 'clickindex:sections': [{ name: featuredCategory }] } }),
    }),
});
