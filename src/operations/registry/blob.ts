import { Answer, operation } from '#api/operation.ts';
import { rangeOf } from '#api/ranges.ts';
import { apiVersion, onRepository } from '#api/registry-access.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText } from '#registry/repository.ts';
import { mustBeDigest } from './blob-uploads.ts';

export const imageBlob = operation({
  name: 'image_blob',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/blobs/:digest',
  since: 0,
  summary: 'Fetch a blob of an image, or a range of its bytes.',
  access: onRepository('pull'),
  produces: ['application/octet-stream'],
  errors: 'registry',
  prefixed: false,
  also: { 206: 'The range of bytes that was asked for.' },
  headers: ['docker-content-digest', 'etag', 'content-range'],
  refuses: ['digest-invalid', 'blob-unknown', 'range-invalid'],

  async handle({ params, request, records, repository, blobs }) {
    const digest = mustBeDigest(params.digest);
    const name = digestText(digest);
    const blob = await records.images.blob(repository, digest.digits);
    if (blob === undefined) throw new Refusal('blob-unknown', 'The repository has no blob of this digest.');
    const { size, sha3_384 } = blob;
    const headers = {
      ...apiVersion,
      'content-type': 'application/octet-stream',
      'docker-content-digest': name,
      etag: `"${name}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=31536000, immutable',
    };
    const range = request.method === 'HEAD' ? undefined : rangeOf(request.headers.range, size);
    const length = range === undefined ? size : range.end - range.start + 1;
    const sized = { ...headers, 'content-length': String(length) };
    if (request.method === 'HEAD') {
      // A client that hears so sends the blob again, which mends it.
      if ((await blobs.stat(sha3_384))?.size !== size)
        throw new Refusal('blob-unknown', 'The blob was damaged and is out of service; push it again.');
      return new Answer({ headers: sized });
    }
    const content = await blobs.open(sha3_384, range);
    if (content?.size !== size) {
      content?.stream.destroy();
      throw new Error(`cannot read the blob ${name}: its content is missing or damaged`);
    }
    if (range === undefined) return new Answer({ headers: sized, body: content.stream });
    const partial = { ...sized, 'content-range': `bytes ${range.start}-${range.end}/${size}` };
    return new Answer({ status: 206, headers: partial, body: content.stream });
  },
});
