// Describes a part of a transfer as an OCI image layout, so that tools for layouts can read it. Images are stored as images; every other
// file is the single layer of an artifact (OCI image specification 1.1, "artifacts").
import { computeDigest } from '#domain/cryptography.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { TransferPackage } from '#contract/wire.ts';
import { toCanonicalText, toCanonicalBytes } from '#domain/canonical-json.ts';
import { PackedList, type Sequence } from '#domain/sequence.ts';

export const layoutFile = Buffer.from(toCanonicalText({ imageLayoutVersion: '1.0.0' }));

const revisionType = 'application/vnd.larder.revision.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

interface ArtifactDescriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

/** A file in a transfer with its readable names. */
interface ArtifactFile {
  sha256: string;
  /** For example `snap/hello:12`. */
  reference: string;
  /** For example `hello_12.snap`. */
  title: string;
  about: Record<string, unknown>;
}

/** The layout documents of a part, without the blobs that start in it. */
export interface PartLayout {
  index: Buffer;
  /** Size of each document in bytes, in order. */
  sizes: number[];
  /** The documents of the artifacts in order, two per file. */
  documents: Sequence<LayoutDocument>;
}

interface LayoutDocument {
  sha256: string;
  text: string;
}

/** The files and images of a statement, by the SHA-256 of their first content. */
export class StatementFileIndex {
  readonly #statement: Pick<LazyTransferStatement, 'packages' | 'blobs'>;
  /** Positions of the packages that contain a content as a file or a manifest. */
  readonly #packages = new Map<string, number[]>();
  readonly #blobs = new Map<string, number>();

  constructor(statement: Pick<LazyTransferStatement, 'packages' | 'blobs'>) {
    this.#statement = statement;
    let at = 0;
    for (const { sha256 } of statement.blobs) this.#blobs.set(sha256, at++);
    at = 0;
    for (const entry of statement.packages) {
      const files = [...filesOf(entry), ...imagesOf(entry)];
      for (const sha256 of new Set(files.map((file) => file.sha256))) {
        const before = this.#packages.get(sha256);
        if (before === undefined) this.#packages.set(sha256, [at]);
        else before.push(at);
      }
      at++;
    }
  }

  /** Returns how many files and images use a blob. */
  filesIn(sha256: string): number {
    return [...this.#files(sha256)].length + [...this.#images(sha256)].length;
  }

  /** Returns the index and the artifacts of a part. `begun` lists the blobs that start in it. */
  layoutOf(begun: readonly string[]): PartLayout {
    const [sizes, documents] = [[] as number[], new PackedList<LayoutDocument>()];
    const manifests = this.#described(begun, (layoutDocument) => {
      sizes.push(lengthOf(layoutDocument));
      documents.add(layoutDocument);
    });
    const index = { manifests, mediaType: 'application/vnd.oci.image.index.v1+json', schemaVersion: 2 };
    return { index: toCanonicalBytes(index), sizes, documents };
  }

  /** Yields the descriptors of artifacts and images, and calls `add` with each new document. */
  *#described(begun: readonly string[], add: (made: LayoutDocument) => void): Generator<ArtifactDescriptor> {
    const isNew = this.#made();
    for (const sha256 of begun) {
      for (const { descriptor, documents } of this.#artifacts(sha256)) {
        documents.filter(isNew).forEach(add);
        yield descriptor;
      }
      for (const { descriptor } of this.#images(sha256)) yield descriptor;
    }
  }

  /** Returns a function that tells whether a document occurs for the first time. */
  #made(): (layoutDocument: LayoutDocument) => boolean {
    const made = new Set<string>();
    return ({ sha256 }) => {
      if (made.has(sha256) || this.#blobs.has(sha256)) return false;
      made.add(sha256);
      return true;
    };
  }

  *#artifacts(sha256: string): Generator<{ descriptor: ArtifactDescriptor; documents: LayoutDocument[] }> {
    for (const { about, title, reference } of this.#files(sha256)) {
      const config = document(about);
      const { size, 'media-type': mediaType } = this.#statement.blobs.at(this.#blobs.get(sha256)!)!;
      // The members are already in name order, so `canonical` does not have to sort them.
      const layer = { annotations: { [titleKey]: title }, digest: `sha256:${sha256}`, mediaType, size };
      const artifact = document({
        artifactType: revisionType,
        config: describe(config, revisionType),
        layers: [layer],
        mediaType: manifestType,
        schemaVersion: 2,
      });
      const descriptor = { annotations: { [referenceKey]: reference }, ...describe(artifact, manifestType) };
      yield { descriptor, documents: [config, artifact] };
    }
  }

  *#files(sha256: string): Generator<ArtifactFile> {
    for (const entry of this.#packagesOf(sha256)) yield* filesOf(entry).filter((file) => file.sha256 === sha256);
  }

  *#images(sha256: string): Generator<{ descriptor: ArtifactDescriptor }> {
    for (const entry of this.#packagesOf(sha256)) yield* imagesOf(entry).filter((image) => image.sha256 === sha256);
  }

  *#packagesOf(sha256: string): Generator<TransferPackage> {
    for (const at of this.#packages.get(sha256) ?? []) yield this.#statement.packages.at(at)!;
  }
}

const titleKey = 'org.opencontainers.image.title';
const referenceKey = 'org.opencontainers.image.ref.name';

function document(content: unknown): LayoutDocument {
  const text = toCanonicalText(content);
  return { text, sha256: computeDigest('content sha256', text) };
}

const lengthOf = ({ text }: LayoutDocument): number => Buffer.byteLength(text);

const describe = (layoutDocument: LayoutDocument, mediaType: string): ArtifactDescriptor => ({
  digest: `sha256:${layoutDocument.sha256}`,
  mediaType,
  size: lengthOf(layoutDocument),
});

/** File extensions by package type. */
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
}: TransferPackage): ArtifactFile[] {
  const of = { id, name, namespace, publisher };
  const own = revisions.map(({ revision, content, version }) => ({
    sha256: content.sha256,
    reference: `${namespace}/${name}:${String(revision)}`,
    title: `${name}_${String(revision)}${endings.get(type) ?? ''}`,
    about: { ...of, revision, type, version },
  }));
  const resourceFiles = resources.flatMap((resource) =>
    resource.revisions.flatMap(({ revision, content }) =>
      content === undefined
        ? []
        : {
            sha256: content.sha256,
            reference: `${namespace}/${name}/${resource.name}:${String(revision)}`,
            title: `${name}_${resource.name}_${String(revision)}`,
            about: { ...of, resource: resource.name, 'resource-type': resource.type, revision, type },
          },
    ),
  );
  const shared = libraries.flatMap((library) =>
    library.versions.map(({ api, patch, content }) => ({
      sha256: content.sha256,
      reference: `${namespace}/${name}/${library.name}:${String(api)}.${String(patch)}`,
      title: `${name}_${library.name}_${String(api)}.${String(patch)}.py`,
      about: { ...of, type, library: library.name, 'library-id': library.id, api, patch },
    })),
  );
  return [...own, ...resourceFiles, ...shared];
}

function imagesOf({ namespace, name, images }: TransferPackage): { sha256: string; descriptor: ArtifactDescriptor }[] {
  return images.flatMap(({ resource, manifests }) =>
    manifests.flatMap(({ content: { sha256, size }, 'media-type': mediaType, tags }) =>
      [...(tags.length === 0 ? [`sha256-${sha256}`] : tags)].map((tag) => {
        const annotations = { [referenceKey]: `${namespace}/${name}/${resource}:${tag}` };
        return { sha256, descriptor: { mediaType, digest: `sha256:${sha256}`, size, annotations } };
      }),
    ),
  );
}
