import { attachment } from '#api/content-disposition.ts';
import { Answer, operation } from '#api/operation.ts';
import { answerWith, elsewhere, rangeOf, redirected } from '#api/ranges.ts';
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
  also: {
    206: 'The range of bytes that was asked for.',
    307: 'Where the server of the files gives it, for five minutes.',
  },
  headers: ['docker-content-digest', 'etag', 'content-range', 'content-disposition', 'location'],
  refuses: ['digest-invalid', 'blob-unknown', 'range-invalid'],

  async handle({ params, request, records, repository, blobs, config }) {
    const digest = mustBeDigest(params.digest);
    const name = digestText(digest);
    const blob = await records.images.blob(repository, digest.digits);
    if (blob === undefined) throw new Refusal('blob-unknown', 'The repository has no blob of this digest.');
    const { size, sha3_384 } = blob;
    const fileName = name.replace(':', '-');
    const named = { ...apiVersion, 'docker-content-digest': name, etag: `"${name}"` };
    const headers = {
      ...named,
      'content-type': 'application/octet-stream',
      ...attachment(fileName),
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=31536000, immutable',
    };
    if (request.method === 'HEAD') {
      // On this error a client sends the blob again, which repairs it.
      if ((await blobs.stat(sha3_384))?.size !== size)
        throw new Refusal('blob-unknown', 'The blob was damaged and is out of service; push it again.');
      return new Answer({ headers: { ...headers, 'content-length': String(size) } });
    }
    const range = rangeOf(request.headers.range, size);
    const missing = (): Error => new Error(`cannot read the blob ${name}: its content is missing or damaged`);
    const location = await elsewhere({ name: fileName, sha3_384, size }, { blobs, config }, missing);
    if (location !== undefined) return redirected(307, location, named);
    return answerWith({ sha3_384, size, range, headers }, blobs, missing);
  },
});
