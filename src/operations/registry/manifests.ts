// Manifests, indexes and tags of images.
import type { IncomingMessage } from 'node:http';
import { hash } from 'node:crypto';

import { mustBeThere, pushImageManifest, type NamedContent, type NamedContents } from '#acts/images.ts';
import { readJson } from '#api/json.ts';
import { Answer, operation } from '#api/operation.ts';
import { apiVersion, onRepository } from '#api/registry-access.ts';
import { check } from '#api/schema.ts';
import type { ImageDescriptor, ImageIndex, ImageManifest as ManifestContent } from '#api/wire.ts';
import { quotaOfEverybody } from '#domain/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ImageManifest, ImageReferences } from '#records/images.ts';
import { noteDownload } from '#records/downloads.ts';
import type { Changes, Records } from '#records/index.ts';
import { digestText, isTag, readDigest, type Digest, type Repository } from '#registry/repository.ts';
import { wholeBody } from './chunks.ts';
import { pusher } from './pusher.ts';

/** What may be kept, by media type: images and indexes, of the OCI and of the older format. */
const shapes = {
  'application/vnd.oci.image.manifest.v1+json': 'ImageManifest',
  'application/vnd.docker.distribution.manifest.v2+json': 'ImageManifest',
  'application/vnd.oci.image.index.v1+json': 'ImageIndex',
  'application/vnd.docker.distribution.manifest.list.v2+json': 'ImageIndex',
} as const;

export const isManifestType = (type: string): type is keyof typeof shapes => Object.hasOwn(shapes, type);

const isImage = (type: string): boolean => isManifestType(type) && shapes[type] === 'ImageManifest';

const largest = 4 * 1024 * 1024;

export const imageManifest = operation({
  name: 'image_manifest',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Fetch a manifest or an index by its tag or its digest, as it was sent.',
  access: onRepository('pull'),
  produces: shapes,
  errors: 'registry',
  prefixed: false,
  headers: ['docker-content-digest', 'etag'],
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
    };
    if (request.method === 'HEAD') {
      if ((await blobs.stat(manifest.sha3_384))?.size !== manifest.size)
        throw new Refusal('manifest-unknown', 'The manifest was damaged and is out of service; push it again.');
      return new Answer({ headers });
    }
    const content = await blobs.open(manifest.sha3_384);
    if (content?.size !== manifest.size) {
      content?.stream.destroy();
      throw new Error(`cannot read the manifest sha256:${manifest.sha256}: its content is missing or damaged`);
    }
    // An index only leads to images: whoever fetches it goes on with one of them.
    if (isImage(manifest.mediaType)) noteDownload(records, repository.packageId, now());
    return new Answer({ headers, body: content.stream });
  },
});

export const putImageManifest = operation({
  name: 'put_image_manifest',
  method: 'PUT',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Keep a manifest or an index whose parts are all there, under a tag or its digest.',
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

  async handle({
    params,
    request,
    records,
    acts,
    config,
    repository,
    repositoryName,
    origin,
    blobs,
    newId,
    requestId,
  }) {
    const { reference } = params;
    const tag = isTag(reference) ? reference : undefined;
    const wanted = readDigest(reference);
    if (tag === undefined && wanted === undefined) {
      throw new Refusal(
        'manifest-invalid',
        'A manifest is named by a tag of at most 128 characters, or by its digest.',
      );
    }
    const bytes = await wholeBody(request, largest);
    const sha256 = hash('sha256', bytes);
    const digest: Digest = wanted ?? { algorithm: 'sha256', digits: sha256 };
    const digits = digest.algorithm === 'sha256' ? sha256 : hash('sha512', bytes);
    if (digits !== digest.digits) {
      throw new Refusal(
        'digest-invalid',
        `The manifest that came has the digest ${digestText({ ...digest, digits })}, not the one it is put under.`,
      );
    }
    const { mediaType, about, ...named } = readManifest(request, bytes);
    await mustBeThere(records, repository, named);
    const { sha3_384, size } = await blobs.put(bytes, { id: newId.uuid() });
    await acts.do(pushImageManifest, pusher(repository, requestId), {
      credential: repository,
      everybody: quotaOfEverybody(config.quotas),
      manifest: { sha256, sha512: digest.algorithm === 'sha512' ? digits : null, sha3_384, size, mediaType },
      ...named,
      digest: digestText(digest),
      tag,
      about: about && { ...about, subject: about.subject.digits },
    });
    return new Answer({
      status: 201,
      headers: {
        ...apiVersion,
        location: `${origin}/v2/${repositoryName}/manifests/${digestText(digest)}`,
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
    const found = limit === 0 ? [] : await records.images.tags(repository, query.last ?? '', limit + 1);
    const tags = found.slice(0, limit);
    const next = `/v2/${name}/tags/list?n=${limit}&last=${encodeURIComponent(tags.at(-1) ?? '')}`;
    return new Answer({
      headers: {
        ...apiVersion,
        'content-type': 'application/json',
        ...(found.length > limit && { link: `<${next}>; rel="next"` }),
      },
      body: JSON.stringify({ name, tags }),
    });
  },
});

/** The manifest of a tag or a digest; refused where there is none. */
export async function findManifest(
  { images }: Pick<Records | Changes, 'images'>,
  repository: Repository,
  reference: string,
): Promise<ImageManifest> {
  const digest = readDigest(reference);
  const found =
    digest === undefined
      ? await images.tagged(repository, reference)
      : await images.manifest(repository, digest.digits);
  if (found === undefined)
    throw new Refusal('manifest-unknown', 'The repository has no manifest of this tag or digest.');
  return found;
}

interface Content extends NamedContents {
  mediaType: string;
  about: (Omit<NonNullable<ImageReferences['about']>, 'subject'> & { subject: Digest }) | undefined;
}

/** What is said of a manifest that is about another one is kept beside it, to be listed. */
const longestAnnotations = 64 * 1024;

function aboutOf(content: ManifestContent | ImageIndex): Content['about'] {
  const { subject, annotations } = content;
  if (subject === undefined) return undefined;
  const digest = readDigest(subject.digest);
  if (digest === undefined) {
    throw new Refusal('manifest-invalid', 'The digest of the subject is none of sha256 or sha512.');
  }
  if (JSON.stringify(annotations ?? {}).length > longestAnnotations) {
    throw new Refusal('manifest-invalid', 'The annotations of a manifest with a subject have at most 64 KiB.');
  }
  const config = 'config' in content ? content.config : undefined;
  return { subject: digest, artifactType: content.artifactType ?? config?.mediaType ?? '', annotations };
}

function readManifest(request: IncomingMessage, bytes: Buffer): Content {
  const mediaType = (request.headers['content-type'] ?? '').trim();
  if (!isManifestType(mediaType)) {
    throw new Refusal(
      'manifest-invalid',
      `The Content-Type must be that of the manifest, one of ${Object.keys(shapes).join(', ')}.`,
    );
  }
  const content = parse(bytes);
  const shape = shapes[mediaType];
  try {
    check(shape, content);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal('manifest-invalid', error.message) : error;
  }
  if (content.mediaType !== undefined && content.mediaType !== mediaType) {
    throw new Refusal('manifest-invalid', 'The mediaType that the manifest names is not its Content-Type.');
  }
  const about = aboutOf(content);
  if (shape === 'ImageIndex') {
    const children = (content as ImageIndex).manifests.map((one) => named(one, false));
    return { mediaType, parts: [], children, about };
  }
  const { config, layers } = content as ManifestContent;
  const parts = [config, ...layers].map((one) => named(one, mayBeElsewhere(one)));
  return { mediaType, parts, children: undefined, about };
}

function parse(bytes: Buffer): unknown {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof Refusal ? error.message : 'The body is not UTF-8 text.';
    throw new Refusal('manifest-invalid', why);
  }
}

/**
 * Whether a layer may be missing: one that is not given away by registries, which clients fetch from elsewhere (OCI image
 * specification, non-distributable layers).
 */
const mayBeElsewhere = ({ mediaType, urls }: ImageDescriptor): boolean =>
  (urls !== undefined && urls.length > 0) || /\.layer\.nondistributable\.|\.rootfs\.foreign\./.test(mediaType);

const named = ({ digest, size }: ImageDescriptor, mayBeElsewhere: boolean): NamedContent => ({
  digest,
  digits: readDigest(digest)?.digits,
  size,
  mayBeElsewhere,
});
