// Lists the manifests that refer to an image as their subject: signatures, SBOMs and others.
import { attachment } from '#api/content-disposition.ts';
import { Answer, operation } from '#api/operation.ts';
import { apiVersion, onRepository } from '#api/registry-access.ts';
import { digestText } from '#registry/repository.ts';
import { mustBeDigest } from './blob-uploads.ts';

const indexType = 'application/vnd.oci.image.index.v1+json';
const inPage = 100;

export const listImageReferrers = operation({
  name: 'list_image_referrers',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/referrers/:digest',
  since: 0,
  summary: 'List the manifests that are about an image, such as its signatures.',
  access: onRepository('pull'),
  query: 'ListImageReferrersQuery',
  produces: { [indexType]: 'ImageReferrers' },
  errors: 'registry',
  prefixed: false,
  headers: ['link', 'oci-filters-applied', 'content-disposition'],
  refuses: ['digest-invalid'],

  async handle({ params, query, records, repository, repositoryName: name }) {
    const digest = mustBeDigest(params.digest);
    // The records identify an existing image by its sha256, also as the subject of referrers.
    const subject = (await records.images.manifest(repository, digest.digits))?.sha256 ?? digest.digits;
    const { artifactType: type, last: after = '' } = query;
    const found = await records.images.referrers(repository, subject, { type, after, limit: inPage + 1 });
    const manifests = found.slice(0, inPage).map(({ mediaType, sha256, sha512, size, artifactType, annotations }) => ({
      mediaType,
      digest: sha512 === null ? `sha256:${sha256}` : `sha512:${sha512}`,
      size,
      ...(artifactType !== '' && { artifactType }),
      ...(annotations !== undefined && { annotations }),
    }));
    const more = new URLSearchParams({
      ...(type !== undefined && { artifactType: type }),
      last: found[inPage - 1]?.sha256 ?? '',
    });
    return new Answer({
      headers: {
        ...apiVersion,
        'content-type': indexType,
        ...attachment(`referrers-${digestText(digest).replace(':', '-')}.json`),
        ...(type !== undefined && { 'oci-filters-applied': 'artifactType' }),
        ...(found.length > inPage && {
          link: `</v2/${name}/referrers/${digestText(digest)}?${more.toString()}>; rel="next"`,
        }),
      },
      // An unknown image has an empty list: its signatures can be pushed before it.
      body: JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }),
    });
  },
});
