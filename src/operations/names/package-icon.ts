import { anyone } from '#api/access.ts';
import { Answer, operation } from '#api/operation.ts';
import { Refusal } from '#domain/refusal.ts';

export const packageIcon = operation({
  name: 'package_icon',
  method: 'GET',
  path: '/icons/:package_id/:icon',
  since: 0,
  summary: "Fetch a package's icon, whose address its metadata gives.",
  access: anyone,
  prefixed: false,
  produces: ['image/png', 'image/svg+xml'],

  async handle({ params, records, blobs }) {
    const { package_id: id, icon } = params;
    const content = (await records.packages.iconOf(id)) === icon ? await blobs.open(icon.slice(0, 96)) : undefined;
    if (content === undefined) throw new Refusal('resource-not-found', 'There is no such icon.');
    return new Answer({
      headers: {
        'content-type': icon.endsWith('.svg') ? 'image/svg+xml' : 'image/png',
        'content-length': String(content.size),
        'cache-control': 'public, max-age=31536000, immutable',
        // A drawing may hold scripts; nothing in it may run or reach out.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'x-content-type-options': 'nosniff',
      },
      body: content.stream,
    });
  },
});
