// A part of a transfer is an OCI image layout: images are images, and every other file is the one layer of an artifact
// (OCI image specification 1.1, "artifacts"), so that what reads layouts can look into a transfer.
import { createHash } from 'node:crypto';

import type { TransferBlob, TransferPackage, TransferStatement } from '#api/wire.ts';
import { canonical } from './canonical.ts';

export const layoutFile = Buffer.from(canonical({ imageLayoutVersion: '1.0.0' }));

const revisionType = 'application/vnd.larder.revision.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

/** A file that is carried, under the name that people know it by. */
interface Named {
  sha256: string;
  /** Such as `snap/hello:12`. */
  reference: string;
  /** Such as `hello_12.snap`. */
  title: string;
  about: Record<string, unknown>;
}

/** The files and images of a statement, by the SHA-256 of the content that they begin with. */
export class Contained {
  readonly #named: Map<string, Named[]>;
  readonly #images: Map<string, Descriptor[]>;
  readonly #blobs: Map<string, TransferBlob>;

  constructor({ packages, blobs }: Pick<TransferStatement, 'packages' | 'blobs'>) {
    this.#blobs = new Map(blobs.map((blob) => [blob.sha256, blob]));
    this.#named = Map.groupBy(packages.flatMap(filesOf), ({ sha256 }) => sha256);
    this.#images = Map.groupBy(packages.flatMap(imagesOf), ({ digest }) => digest.slice('sha256:'.length));
  }

  /** How many files a blob is. */
  filesIn(sha256: string): number {
    return (this.#named.get(sha256)?.length ?? 0) + (this.#images.get(sha256)?.length ?? 0);
  }

  /** The index of a part in which these blobs begin, and the artifacts that go with them. */
  layoutOf(begun: readonly string[]): { index: Buffer; documents: { sha256: string; bytes: Buffer }[] } {
    const documents = new Map<string, Buffer>();
    const manifests: Descriptor[] = [];
    for (const sha256 of begun) {
      for (const file of this.#named.get(sha256) ?? []) {
        const config = document(documents, revisionType, file.about);
        const { size, 'media-type': mediaType } = this.#blobs.get(sha256)!;
        const layer = { mediaType, digest: `sha256:${sha256}`, size, annotations: { [titleKey]: file.title } };
        const artifact = {
          schemaVersion: 2,
          mediaType: manifestType,
          artifactType: revisionType,
          config,
          layers: [layer],
        };
        manifests.push({
          ...document(documents, manifestType, artifact),
          annotations: { [referenceKey]: file.reference },
        });
      }
      manifests.push(...(this.#images.get(sha256) ?? []));
    }
    const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
    return {
      index: Buffer.from(canonical(index)),
      documents: [...documents]
        .filter(([sha256]) => !this.#blobs.has(sha256))
        .map(([sha256, bytes]) => ({ sha256, bytes })),
    };
  }
}

const titleKey = 'org.opencontainers.image.title';
const referenceKey = 'org.opencontainers.image.ref.name';

function document(documents: Map<string, Buffer>, mediaType: string, content: unknown): Descriptor {
  const bytes = Buffer.from(canonical(content));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  documents.set(sha256, bytes);
  return { mediaType, digest: `sha256:${sha256}`, size: bytes.length };
}

/** By which ending people know what a package is. */
export const endings: ReadonlyMap<string, string> = new Map([
  ['snap', '.snap'],
  ['charm', '.charm'],
  ['bundle', '.zip'],
  ['rock', '.rock'],
]);

export function filesOf({
  id,
  namespace,
  name,
  type,
  publisher,
  revisions,
  resources,
  libraries = [],
}: TransferPackage): Named[] {
  const of = { id, name, namespace, publisher, type };
  const own = revisions.map(({ revision, content, version }) => ({
    sha256: content.sha256,
    reference: `${namespace}/${name}:${String(revision)}`,
    title: `${name}_${String(revision)}${endings.get(type) ?? ''}`,
    about: { ...of, revision, version },
  }));
  const beside = resources.flatMap((resource) =>
    resource.revisions.flatMap(({ revision, content }) =>
      content === undefined
        ? []
        : {
            sha256: content.sha256,
            reference: `${namespace}/${name}/${resource.name}:${String(revision)}`,
            title: `${name}_${resource.name}_${String(revision)}`,
            about: { ...of, resource: resource.name, 'resource-type': resource.type, revision },
          },
    ),
  );
  const shared = libraries.flatMap((library) =>
    library.versions.map(({ api, patch, content }) => ({
      sha256: content.sha256,
      reference: `${namespace}/${name}/${library.name}:${String(api)}.${String(patch)}`,
      title: `${name}_${library.name}_${String(api)}.${String(patch)}.py`,
      about: { ...of, library: library.name, 'library-id': library.id, api, patch },
    })),
  );
  return [...own, ...beside, ...shared];
}

function imagesOf({ namespace, name, images }: TransferPackage): Descriptor[] {
  return images.flatMap(({ resource, manifests }) =>
    manifests.flatMap(({ content, 'media-type': mediaType, tags }) =>
      [...(tags.length === 0 ? [`sha256-${content.sha256}`] : tags)].map((tag) => ({
        mediaType,
        digest: `sha256:${content.sha256}`,
        size: content.size,
        annotations: { [referenceKey]: `${namespace}/${name}/${resource}:${tag}` },
      })),
    ),
  );
}
