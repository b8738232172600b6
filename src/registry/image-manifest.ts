// Reads image manifests of pushes and transfers: their content, and their subject.
import type { ReferencedContent, ReferencedContents } from '#acts/images/images.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ImageReferences } from '#records/images/images.ts';
import { readDigest, type Digest } from './repository.ts';
import { readJson } from '#contract/json.ts';
import { checkShape } from '#contract/schema.ts';
import type { ImageDescriptor, ImageIndex, ImageManifest as ManifestContent } from '#contract/wire.ts';

/** The manifests that may be stored, by media type: images and indexes, of the OCI format and of the older one. */
export const manifestShapes = {
  'application/vnd.oci.image.manifest.v1+json': 'ImageManifest',
  'application/vnd.docker.distribution.manifest.v2+json': 'ImageManifest',
  'application/vnd.oci.image.index.v1+json': 'ImageIndex',
  'application/vnd.docker.distribution.manifest.list.v2+json': 'ImageIndex',
} as const;

export const isManifestType = (type: string): type is keyof typeof manifestShapes =>
  Object.hasOwn(manifestShapes, type);

export interface ManifestContents extends ReferencedContents {
  mediaType: string;
  about: (Omit<NonNullable<ImageReferences['about']>, 'subject'> & { subject: Digest }) | undefined;
}

/** Maximum length of the annotations of a manifest about another one; they are stored with it for lists. */
const longestAnnotations = 64 * 1024;

function aboutOf(content: ManifestContent | ImageIndex): ManifestContents['about'] {
  const { subject, annotations } = content;
  if (subject === undefined) return undefined;
  const digest = readDigest(subject.digest);
  if (digest === undefined) {
    throw new Refusal('manifest-invalid', 'The digest of the subject is neither sha256 nor sha512.');
  }
  if (JSON.stringify(annotations ?? {}).length > longestAnnotations) {
    throw new Refusal('manifest-invalid', 'The annotations of a manifest with a subject may have at most 64 KiB.');
  }
  const config = 'config' in content ? content.config : undefined;
  return { subject: digest, artifactType: content.artifactType ?? config?.mediaType ?? '', annotations };
}

/** Reads the content and the subject of a manifest; refuses bytes that do not fit its media type. */
export function readManifest(mediaType: string, bytes: Buffer): ManifestContents {
  if (!isManifestType(mediaType)) {
    throw new Refusal(
      'manifest-invalid',
      `The Content-Type must be that of the manifest, one of ${Object.keys(manifestShapes).join(', ')}.`,
    );
  }
  const content = parse(bytes);
  const shape = manifestShapes[mediaType];
  try {
    checkShape(shape, content);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal('manifest-invalid', error.message) : error;
  }
  if (content.mediaType !== undefined && content.mediaType !== mediaType) {
    throw new Refusal('manifest-invalid', 'The mediaType that the manifest names is not its Content-Type.');
  }
  const about = aboutOf(content);
  if (shape === 'ImageIndex') {
    const children = (content as ImageIndex).manifests.map((descriptor) => toNamedContent(descriptor, false));
    return { mediaType, parts: [], children, about };
  }
  const { config, layers } = content as ManifestContent;
  const parts = [config, ...layers].map((descriptor) => toNamedContent(descriptor, mayBeElsewhere(descriptor)));
  return { mediaType, parts, children: undefined, about };
}

function parse(bytes: Buffer): unknown {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Refusal ? error.message : 'The body is not UTF-8 text.';
    throw new Refusal('manifest-invalid', reason);
  }
}

/**
 * Whether a layer may be missing: registries do not distribute it, and clients fetch it from elsewhere (OCI image specification,
 * non-distributable layers).
 */
const mayBeElsewhere = ({ mediaType, urls }: ImageDescriptor): boolean =>
  (urls !== undefined && urls.length > 0) || /\.layer\.nondistributable\.|\.rootfs\.foreign\./.test(mediaType);

const toNamedContent = ({ digest, size }: ImageDescriptor, mayBeElsewhere: boolean): ReferencedContent => ({
  digest,
  digits: readDigest(digest)?.digits,
  size,
  mayBeElsewhere,
});
