// Manifests, indexes and tags of images.
import { computeDigest } from '#domain/cryptography.ts';
import { requireManifestContents, pushImageManifest } from '#acts/images/images.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { isManifestType, manifestShapes, readManifest } from '#registry/image-manifest.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { apiVersion, locationFor, onRepository } from '#access/registry-access.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ImageManifest } from '#records/images/images.ts';
import { countDownload } from '#records/packages/downloads.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { digestText, isTag, readDigest, type Digest, type Repository } from '#registry/repository.ts';
import { readWholeBody } from './chunks.ts';
import { pusher } from './pusher.ts';

const isImage = (type: string): boolean => isManifestType(type) && manifestShapes[type] === 'ImageManifest';

const maxManifestBytes = 4 * 1024 * 1024;

export const imageManifest = operation({
  name: 'image_manifest',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Download a manifest or an index by tag or digest, exactly as it was pushed.',
  access: onRepository('pull'),
  produces: manifestShapes,
  errors: 'registry',
  prefixed: false,
  headers: ['docker-content-digest', 'etag', 'content-disposition'],
  refuses: ['manifest-unknown'],

  async handle({ params, request, records, repository, blobs, now }) {
    const manifest = await findManifest(records, repository, params.reference);
    const digest = readDigest(params.reference) ?? { algorithm: 'sha256', digits: manifest.sha256 };
    const headers = {
      ...apiVersion,
      'content-type': manifest.mediaType,
      'content-length': String(manifest.size),
      'docker-content-digest': digestText(digest),
      etag: `"${digestText(digest)}"`,
      ...attachment(`${params.resource}-${params.reference.replace(':', '-')}.json`),
    };
    if (request.method === 'HEAD') {
      if ((await blobs.stat(manifest.sha3_384))?.size !== manifest.size)
        throw new Refusal('manifest-unknown', 'The manifest is corrupt and out of service. Push it again.');
      return new OperationResponse({ headers });
    }
    const content = await blobs.open(manifest.sha3_384);
    if (content?.size !== manifest.size) {
      content?.stream.destroy();
      throw new Error(`cannot read the manifest sha256:${manifest.sha256}: its content is missing or damaged`);
    }
    // An index does not count as a download: its client continues with one of its images.
    if (isImage(manifest.mediaType)) countDownload(records, repository.packageId, now());
    return new OperationResponse({ headers, body: content.stream });
  },
});

/** The media type without its parameters, such as `; charset=utf-8`, which some clients add. */
const mediaTypeIn = (header = ''): string => header.split(';', 1)[0]!.trim();

export const putImageManifest = operation({
  name: 'put_image_manifest',
  method: 'PUT',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Store a manifest or an index under a tag or its digest. All its parts must exist.',
  access: onRepository('push'),
  consumes: 'application/octet-stream',
  errors: 'registry',
  prefixed: false,
  status: 201,
  headers: ['location', 'docker-content-digest', 'oci-subject'],
  refuses: [
    'manifest-invalid',
    'digest-invalid',
    'manifest-blob-unknown',
    'forbidden',
    'insufficient-storage',
    'name-unknown',
  ],

  async handle({ params, request, records, acts, config, repository, repositoryName, blobs, newId, requestId }) {
    const { reference } = params;
    const tag = isTag(reference) ? reference : undefined;
    const requestedDigest = readDigest(reference);
    if (tag === undefined && requestedDigest === undefined) {
      throw new Refusal(
        'manifest-invalid',
        'A manifest is named by a tag of at most 128 characters, or by its digest.',
      );
    }
    const bytes = await readWholeBody(request, maxManifestBytes);
    const sha256 = computeDigest('content sha256', bytes);
    const digest: Digest = requestedDigest ?? { algorithm: 'sha256', digits: sha256 };
    const digits = digest.algorithm === 'sha256' ? sha256 : computeDigest('content sha512', bytes);
    if (digits !== digest.digits) {
      throw new Refusal(
        'digest-invalid',
        `The received manifest has the digest ${digestText({ ...digest, digits })}, not the digest in the address.`,
      );
    }
    const { mediaType, about, ...contents } = readManifest(mediaTypeIn(request.headers['content-type']), bytes);
    await requireManifestContents(records, repository, contents);
    const { sha3_384, size } = await blobs.put(bytes, { id: newId.uuid() });
    await acts.do(pushImageManifest, pusher(repository, requestId), {
      credential: repository,
      defaultQuota: readDefaultQuota(config.quotas),
      manifest: { sha256, sha512: digest.algorithm === 'sha512' ? digits : null, sha3_384, size, mediaType },
      ...contents,
      digest: digestText(digest),
      tag,
      about: about && { ...about, subject: about.subject.digits },
    });
    return new OperationResponse({
      status: 201,
      headers: {
        ...apiVersion,
        location: locationFor(request, config, `/v2/${repositoryName}/manifests/${digestText(digest)}`),
        'docker-content-digest': digestText(digest),
        'content-length': '0',
        ...(about !== undefined && { 'oci-subject': digestText(about.subject) }),
      },
    });
  },
});

export const listImageTags = operation({
  name: 'list_image_tags',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/tags/list',
  since: 0,
  summary: 'List the tags of a repository.',
  access: onRepository('pull'),
  query: 'ListImageTagsQuery',
  errors: 'registry',
  prefixed: false,
  response: 'ImageTags',
  headers: ['link'],

  async handle({ query, records, repository, repositoryName: name }) {
    const limit = Math.min(Number(query.n ?? 1000), 1000);
    const rows = limit === 0 ? [] : await records.images.tags(repository, query.last ?? '', limit + 1);
    const tags = rows.slice(0, limit);
    const next = `/v2/${name}/tags/list?n=${limit}&last=${encodeURIComponent(tags.at(-1) ?? '')}`;
    return new OperationResponse({
      headers: {
        ...apiVersion,
        'content-type': 'application/json',
        ...(rows.length > limit && { link: `<${next}>; rel="next"` }),
      },
      body: JSON.stringify({ name, tags }),
    });
  },
});

/** The manifest of a tag or a digest; throws if it does not exist. */
export async function findManifest(
  { images }: Pick<StoreRecords | ChangeRecords, 'images'>,
  repository: Repository,
  reference: string,
): Promise<ImageManifest> {
  const digest = readDigest(reference);
  const manifest =
    digest === undefined
      ? await images.tagged(repository, reference)
      : await images.manifest(repository, digest.digits);
  if (manifest === undefined)
    throw new Refusal('manifest-unknown', 'The repository has no manifest with this tag or digest.');
  return manifest;
}
