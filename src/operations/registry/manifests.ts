// Manifests, indexes and tags of images.
import type { IncomingMessage } from 'node:http';
import { hash } from 'node:crypto';

import { readJson } from '#api/json.ts';
import { Answer, operation } from '#api/operation.ts';
import { apiVersion, onRepository, type RepositoryEvidence } from '#api/registry-access.ts';
import { check } from '#api/schema.ts';
import type { ImageDescriptor, ImageIndex, ImageManifest as ManifestContent } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ImageManifest, ImageReferences } from '#records/images.ts';
import type { Changes, Records } from '#records/index.ts';
import { isTag, sha256Of } from '#registry/repository.ts';
import { wholeBody } from './chunks.ts';

/** What may be kept, by media type: images and indexes, of the OCI and of the older format. */
const shapes = {
  'application/vnd.oci.image.manifest.v1+json': 'ImageManifest',
  'application/vnd.docker.distribution.manifest.v2+json': 'ImageManifest',
  'application/vnd.oci.image.index.v1+json': 'ImageIndex',
  'application/vnd.docker.distribution.manifest.list.v2+json': 'ImageIndex',
} as const;

export const isManifestType = (type: string): type is keyof typeof shapes => Object.hasOwn(shapes, type);

const isIndexType = (type: string): boolean => isManifestType(type) && shapes[type] === 'ImageIndex';

const largest = 4 * 1024 * 1024;

export const imageManifest = operation({
  name: 'image_manifest',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Fetch a manifest or an index by its tag or its digest, as it was sent.',
  access: onRepository('pull'),
  produces: Object.keys(shapes),
  errors: 'registry',
  prefixed: false,

  async handle({ params, request, records, repository, blobs }) {
    const manifest = await find(records, repository, params.reference);
    const headers = {
      ...apiVersion,
      'content-type': manifest.mediaType,
      'content-length': String(manifest.size),
      'docker-content-digest': `sha256:${manifest.sha256}`,
      etag: `"sha256:${manifest.sha256}"`,
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

  async handle({ params, request, records, repository, repositoryName, origin, blobs, now, newId, requestId }) {
    const { reference } = params;
    const tag = isTag(reference) ? reference : undefined;
    const wanted = sha256Of(reference);
    if (tag === undefined && wanted === undefined) {
      throw new Refusal(
        'manifest-invalid',
        'A manifest is named by a tag of at most 128 characters, or by its digest.',
      );
    }
    const bytes = await wholeBody(request, largest);
    const sha256 = hash('sha256', bytes);
    if (wanted !== undefined && sha256 !== wanted) {
      throw new Refusal(
        'digest-invalid',
        `The manifest that came has the digest sha256:${sha256}, not the one it is put under.`,
      );
    }
    const { mediaType, parts, children, about } = readManifest(request, bytes);
    await mustBeThere(records, repository, parts, children);
    const { sha3_384, size } = await blobs.put(bytes, { id: newId.uuid() });
    const at = timestamp(now());
    const entry = {
      at,
      actor: repository.accountId ?? 'anyone',
      action: 'push_image_manifest',
      object: `${repository.namespace}/${repository.name}`,
      requestId,
      details: { resource: repository.resource, digest: `sha256:${sha256}`, tag, credentials: repository.id },
    };
    await records.change(entry, async (tx) => {
      await mustBeThere(tx, repository, parts, children);
      const references = {
        parts: digestsOf(parts),
        children: isIndexType(mediaType) ? digestsOf(children) : undefined,
        about,
      };
      await tx.images.addManifest(repository, { sha256, sha3_384, size, mediaType }, references, at);
      await tx.damagedBlobs.mended(sha3_384);
      if (tag !== undefined) await tx.images.tag(repository, tag, sha256, at);
    });
    return new Answer({
      status: 201,
      headers: {
        ...apiVersion,
        location: `${origin}/v2/${repositoryName}/manifests/sha256:${sha256}`,
        'docker-content-digest': `sha256:${sha256}`,
        'content-length': '0',
        ...(about !== undefined && { 'oci-subject': `sha256:${about.subject}` }),
      },
    });
  },
});

const digestsOf = (descriptors: ImageDescriptor[]): string[] => descriptors.map(({ digest }) => sha256Of(digest) ?? '');

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

async function find(
  records: Records,
  repository: RepositoryEvidence['repository'],
  reference: string,
): Promise<ImageManifest> {
  const sha256 = sha256Of(reference);
  const found =
    sha256 === undefined
      ? await records.images.tagged(repository, reference)
      : await records.images.manifest(repository, sha256);
  if (found === undefined)
    throw new Refusal('manifest-unknown', 'The repository has no manifest of this tag or digest.');
  return found;
}

interface Content {
  mediaType: string;
  /** The blobs of an image. */
  parts: ImageDescriptor[];
  /** The manifests of an index. */
  children: ImageDescriptor[];
  about: ImageReferences['about'];
}

/** What is said of a manifest that is about another one is kept beside it, to be listed. */
const longestAnnotations = 64 * 1024;

function aboutOf(content: ManifestContent | ImageIndex): ImageReferences['about'] {
  const { subject, annotations } = content;
  if (subject === undefined) return undefined;
  const sha256 = sha256Of(subject.digest);
  if (sha256 === undefined) {
    throw new Refusal('manifest-invalid', 'The digest of the subject is not written as sha256: and 64 digits.');
  }
  if (JSON.stringify(annotations ?? {}).length > longestAnnotations) {
    throw new Refusal('manifest-invalid', 'The annotations of a manifest with a subject have at most 64 KiB.');
  }
  const config = 'config' in content ? content.config : undefined;
  return { subject: sha256, artifactType: content.artifactType ?? config?.mediaType ?? '', annotations };
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
  if (shape === 'ImageIndex') return { mediaType, parts: [], children: (content as ImageIndex).manifests, about };
  const { config, layers } = content as ManifestContent;
  return { mediaType, parts: [config, ...layers], children: [], about };
}

function parse(bytes: Buffer): unknown {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof Refusal ? error.message : 'The body is not UTF-8 text.';
    throw new Refusal('manifest-invalid', why);
  }
}

/** Refuses a manifest that names what the repository has not, or has in another size. */
async function mustBeThere(
  { images }: Pick<Records | Changes, 'images'>,
  repository: RepositoryEvidence['repository'],
  parts: ImageDescriptor[],
  children: ImageDescriptor[],
): Promise<void> {
  for (const [wanted, look, what] of [
    [parts, images.blobs, 'blob'],
    [children, images.manifests, 'manifest'],
  ] as const) {
    if (wanted.length === 0) continue;
    const digests = new Set(wanted.map(({ digest }) => sha256Of(digest)).filter((digest) => digest !== undefined));
    const there = new Map((await look(repository, [...digests])).map(({ sha256, size }) => [sha256, size]));
    for (const { digest, size } of wanted) {
      const known = there.get(sha256Of(digest) ?? '');
      if (known === undefined) {
        throw new Refusal(
          'manifest-blob-unknown',
          `The repository has no ${what} ${digest.slice(0, 100)}; send it before the manifest that names it.`,
        );
      }
      if (known !== size) {
        throw new Refusal('manifest-invalid', `The ${what} ${digest.slice(0, 100)} has ${known} bytes, not ${size}.`);
      }
    }
  }
}
