// Lists the manifests that refer to an image as their subject: signatures, SBOMs and others.
import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { apiVersion, onRepository } from '#access/registry-access.ts';
import { digestText } from '#registry/repository.ts';
import { parseRequiredDigest } from './blob-uploads.ts';

const indexType = 'application/vnd.oci.image.index.v1+json';
const maxReferrers = 100;

export const listImageReferrers = operation({
  name: 'list_image_referrers',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/referrers/:digest',
  since: 0,
  summary: 'List the manifests that refer to an image, such as its signatures.',
  access: onRepository('pull'),
  query: 'ListImageReferrersQuery',
  produces: { [indexType]: 'ImageReferrers' },
  errors: 'registry',
  prefixed: false,
  headers: ['link', 'oci-filters-applied', 'content-disposition'],
  refuses: ['digest-invalid'],

  async handle({ params, query, records, repository, repositoryName: name }) {
    const digest = parseRequiredDigest(params.digest);
    // The records identify an existing image by its sha256, also as the subject of referrers.
    const subject = (await records.images.manifest(repository, digest.digits))?.sha256 ?? digest.digits;
    const { artifactType: type, last: after = '' } = query;
    const rows = await records.images.referrers(repository, subject, { type, after, limit: maxReferrers + 1 });
    const manifests = rows
      .slice(0, maxReferrers)
      .map(({ mediaType, sha256, sha512, size, artifactType, annotations }) => ({
        mediaType,
        digest: sha512 === null ? `sha256:${sha256}` : `sha512:${sha512}`,
        size,
        ...(artifactType !== '' && { artifactType }),
        ...(annotations !== undefined && { annotations }),
      }));
    const more = new URLSearchParams({
      ...(type !== undefined && { artifactType: type }),
      last: rows[maxReferrers - 1]?.sha256 ?? '',
    });
    return new OperationResponse({
      headers: {
        ...apiVersion,
        'content-type': indexType,
        ...attachment(`referrers-${digestText(digest).replace(':', '-')}.json`),
        ...(type !== undefined && { 'oci-filters-applied': 'artifactType' }),
        ...(rows.length > maxReferrers && {
          link: `</v2/${name}/referrers/${digestText(digest)}?${more.toString()}>; rel="next"`,
        }),
      },
      // An unknown image has an empty list: its signatures can be pushed before it.
      body: JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }),
    });
  },
});
