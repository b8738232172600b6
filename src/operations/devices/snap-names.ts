// Lists all snap names. Each device fetches the list once a day and uses it to suggest a snap for an unknown command.
import { createDigest } from '#domain/cryptography.ts';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';

import { anyone } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { matchesEtag } from '#http/response/byte-ranges.ts';
import { ResponseCache } from '#http/response/response-cache.ts';
import { notModified } from '#http/response/revalidation.ts';
import { confinements as everyConfinement } from '#domain/packages/snap-catalog.ts';
import { hal } from './snap-sections.ts';

export const snapNames = operation({
  name: 'snap_names',
  method: 'GET',
  path: '/api/v1/snaps/names',
  since: 0,
  summary: 'List the names of all released public snaps, with their commands.',
  access: anyone,
  query: 'SnapNamesQuery',
  produces: { [hal]: 'SnapNamesResponse' },
  headers: ['etag', 'vary'],
  also: notModified,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ query, request, records, catalogUpToDate }) {
    await catalogUpToDate();
    const { etag, packed } = await namesOf(query.confinement?.split(',') ?? everyConfinement, records);
    // Both encodings share one digest, so the ETag is weak.
    const headers = { etag: `W/${etag}`, 'cache-control': 'max-age=300', vary: 'Accept-Encoding' };
    if (matchesEtag(request, etag)) return new OperationResponse({ status: 304, headers });
    const isPacked = /\bgzip\b/.test([request.headers['accept-encoding'] ?? ''].flat().join());
    return new OperationResponse({
      headers: { ...headers, 'content-type': hal, ...(isPacked && { 'content-encoding': 'gzip' }) },
      body: isPacked ? packed : await promisify(gunzip)(packed),
    });
  },
});

interface PackedSnapNames {
  etag: string;
  /** Compressed with gzip to a tenth of the size, the encoding that devices request. */
  packed: Buffer;
}

/** Built once per state of the catalog and per requested set of confinements. */
const responses = new ResponseCache<PackedSnapNames>({
  maxBytes: 32 * 1024 * 1024,
  sizeOf: ({ packed }) => packed.length,
});

async function namesOf(confinements: readonly string[], records: HandlerRecords): Promise<PackedSnapNames> {
  const cached = responses.in(await records.cacheGenerations.catalog());
  const selected = everyConfinement.filter((confinement) => confinements.includes(confinement));
  return cached.share([selected.join()], () => make(selected, records));
}

const pageSize = 1000;

async function make(confinements: readonly string[], { catalog }: HandlerRecords): Promise<PackedSnapNames> {
  const digest = createDigest('cache');
  async function* text(): AsyncGenerator<string> {
    // A device parses the list token by token and expects these keys first.
    yield '{"_embedded":{"clickindex:package":[';
    let isFirst = true;
    for (let after = ''; ;) {
      const page = await catalog.entries(after, pageSize);
      const entries = page.filter(({ confinement }) => confinements.includes(confinement)).map(({ entry }) => entry);
      if (entries.length > 0) yield `${isFirst ? '' : ','}${entries.join(',')}`;
      isFirst &&= entries.length === 0;
      if (page.length < pageSize) break;
      after = page.at(-1)!.name;
    }
    yield ']}}';
  }
  async function* digested(): AsyncGenerator<string> {
    for await (const part of text()) {
      digest.update(part);
      yield part;
    }
  }
  const packed = await buffer(Readable.from(digested()).pipe(createGzip()));
  return { etag: `"${digest.digest('hex')}"`, packed };
}
