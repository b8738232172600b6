import { anyone } from '#access/access-rules.ts';
import { shownFile } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { matchesEtag } from '#http/response/byte-ranges.ts';
import { notModified } from '#http/response/revalidation.ts';
import { Refusal } from '#domain/refusal.ts';
import { iconMediaType } from '#review/icon.ts';

export const packageIcon = operation({
  name: 'package_icon',
  method: 'GET',
  path: '/icons/:package_id/:icon',
  since: 0,
  summary: 'Download the icon of a package. Its address is in the metadata.',
  access: anyone,
  prefixed: false,
  produces: ['image/png', 'image/jpeg', 'image/svg+xml'],
  headers: ['etag', 'content-disposition'],
  also: notModified,

  async handle({ params, request, records, blobs }) {
    const { package_id: id, icon } = params;
    const isThere = (await records.packages.iconOf(id)) === icon;
    const cacheHeaders = { etag: `"${icon.slice(0, 96)}"`, 'cache-control': 'public, max-age=31536000, immutable' };
    if (isThere && matchesEtag(request, cacheHeaders.etag))
      return new OperationResponse({ status: 304, headers: cacheHeaders });
    const content = isThere ? await blobs.open(icon.slice(0, 96)) : undefined;
    if (content === undefined) throw new Refusal('resource-not-found', 'There is no such icon.');
    return new OperationResponse({
      headers: {
        'content-type': iconMediaType(icon),
        'content-length': String(content.size),
        ...cacheHeaders,
        ...shownFile(icon),
        // An SVG can contain scripts; the policy prevents them, and all requests to other addresses.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'x-content-type-options': 'nosniff',
      },
      body: content.stream,
    });
  },
});
