import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { acceptRanges, respondWithBlob, findDownloadUrl, parseRange, redirectTo } from '#http/response/byte-ranges.ts';
import { apiVersion, onRepository } from '#access/registry-access.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText } from '#registry/repository.ts';
import { parseRequiredDigest } from './blob-uploads.ts';

export const imageBlob = operation({
  name: 'image_blob',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/blobs/:digest',
  since: 0,
  summary: 'Download a blob of an image, or a range of its bytes.',
  access: onRepository('pull'),
  produces: ['application/octet-stream'],
  errors: 'registry',
  prefixed: false,
  also: {
    206: 'The requested range of bytes.',
    307: 'The address of the file on the S3 server, valid for five minutes.',
  },
  headers: ['docker-content-digest', 'etag', 'vary', 'content-range', 'content-disposition', 'location'],
  refuses: ['digest-invalid', 'blob-unknown', 'range-invalid'],

  async handle({ params, request, records, repository, blobs, config }) {
    const digest = parseRequiredDigest(params.digest);
    const name = digestText(digest);
    const blob = await records.images.blob(repository, digest.digits);
    if (blob === undefined) throw new Refusal('blob-unknown', 'The repository has no blob with this digest.');
    const { size, sha3_384 } = blob;
    const fileName = name.replace(':', '-');
    const digestHeaders = { ...apiVersion, 'docker-content-digest': name, etag: `"${name}"` };
    const headers = {
      ...digestHeaders,
      'content-type': 'application/octet-stream',
      ...attachment(fileName),
      'cache-control': 'private, max-age=31536000, immutable',
    };
    if (request.method === 'HEAD') {
      // On this error a client sends the blob again, which repairs it.
      if ((await blobs.stat(sha3_384))?.size !== size)
        throw new Refusal('blob-unknown', 'The blob is corrupt and out of service. Push it again.');
      return new OperationResponse({ headers: { ...headers, ...acceptRanges, 'content-length': String(size) } });
    }
    const range = parseRange(request.headers.range, size);
    const missing = (): Error => new Error(`cannot read the blob ${name}: its content is missing or damaged`);
    const location = await findDownloadUrl({ name: fileName, sha3_384, size }, { blobs, config }, missing);
    if (location !== undefined) return redirectTo(307, location, digestHeaders);
    return respondWithBlob({ sha3_384, size, range, headers }, { request, blobs, config }, missing);
  },
});
