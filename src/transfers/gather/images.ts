// Finds images in a folder: OCI layouts, `dir:` folders of `skopeo copy`, and archives of layouts. An image is identified by the digest of
// its manifest and is never modified.
import { createDigest } from '#domain/cryptography.ts';
import { closeSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';

import { isManifestType, readManifest, type ManifestContents } from '#registry/image-manifest.ts';
import { readJson } from '#contract/json.ts';
import { Refusal } from '#domain/refusal.ts';
import { sha256Of } from '#registry/repository.ts';
import { fileSource } from '#review/squashfs/source.ts';
import { listTar } from '#review/images/tar.ts';
import { openFlags, readAt, type GatheredFile, type GatheredRange } from './folder.ts';

const maxManifestBytes = 4 * 1024 * 1024;

interface GatheredManifest {
  place: GatheredRange;
  mediaType: string;
  contents: ManifestContents;
}

/** A complete image: all manifests that it contains or that refer to it, and their content. */
export interface WholeImage {
  manifests: { sha256: string; mediaType: string; place: GatheredRange }[];
  blobs: { sha256: string; place: GatheredRange }[];
}

/** All image content in a folder, by the SHA-256 in its name. */
export class Images {
  readonly #places = new Map<string, GatheredRange>();
  readonly #manifests = new Map<string, GatheredManifest>();
  /** Manifests that refer to another one, by the digest of the latter. */
  readonly #about = new Map<string, string[]>();
  /** Name of the folder or archive of each image, by its digest, for messages. */
  readonly roots = new Map<string, string>();

  /** Adds a folder with an `oci-layout`. */
  async addLayout(folder: string, name: string, files: readonly GatheredFile[]): Promise<void> {
    const blobs = files.filter((file) => file.folder === join(folder, 'blobs/sha256'));
    for (const { path, size } of blobs) this.#place(basename(path), { file: path, offset: 0, size });
    const index = files.find(({ path }) => path === join(folder, 'index.json'));
    if (index !== undefined) await this.#addIndex({ file: index.path, offset: 0, size: index.size }, name);
  }

  /** Adds a `dir:` folder of skopeo: `manifest.json`, further manifests as DIGEST.manifest.json, and all content under its digest. */
  async addDirectory(name: string, files: readonly GatheredFile[]): Promise<void> {
    for (const { path, size } of files) {
      const place = { file: path, offset: 0, size };
      const called = basename(path);
      if (/^[0-9a-f]{64}$/.test(called)) this.#place(called, place);
      else if (called === 'manifest.json' || called.endsWith('.manifest.json')) {
        const digest = await this.#addManifest(place, undefined);
        if (called === 'manifest.json') this.roots.set(digest, name);
      }
    }
  }

  /** Adds an archive of a layout, such as a rock. Returns false if it is not one. */
  async addArchive({ path, name }: GatheredFile): Promise<boolean> {
    const handle = openSync(path, openFlags);
    try {
      const files = listTar(fileSource(handle));
      const index = files.get('index.json');
      if (!files.has('oci-layout') || index === undefined) return false;
      for (const [inner, { start, size }] of files) {
        const [, digest] = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(inner) ?? [];
        if (digest !== undefined) this.#place(digest, { file: path, offset: start, size });
      }
      await this.#addIndex({ file: path, offset: index.start, size: index.size }, name);
      return true;
    } finally {
      closeSync(handle);
    }
  }

  /** Returns the image with this digest, or a sentence if any part of it is missing. */
  findComplete(sha256: string): WholeImage | string {
    const reached = new Set<string>();
    const blobs = new Set<string>();
    const pending = [sha256];
    for (let manifestDigest = pending.pop(); manifestDigest !== undefined; manifestDigest = pending.pop()) {
      const manifest = this.#manifests.get(manifestDigest);
      if (manifest === undefined) return `The image sha256:${manifestDigest} is not in the folder.`;
      if (reached.has(manifestDigest)) continue;
      reached.add(manifestDigest);
      const { parts, children } = manifest.contents;
      for (const { digest, mayBeElsewhere } of parts) {
        const blobDigest = sha256Of(digest);
        if (blobDigest !== undefined && this.#places.has(blobDigest)) blobs.add(blobDigest);
        else if (!mayBeElsewhere) return `Its image needs ${digest.slice(0, 140)}, which is not in the folder.`;
      }
      for (const { digest } of children ?? []) pending.push(sha256Of(digest) ?? digest.slice(0, 140));
      pending.push(...(this.#about.get(manifestDigest) ?? []));
    }
    return {
      manifests: [...reached].sort().map((digest) => ({ ...this.#manifests.get(digest)!, sha256: digest })),
      blobs: [...blobs].sort().map((digest) => ({ sha256: digest, place: this.#places.get(digest)! })),
    };
  }

  #place(sha256: string, place: GatheredRange): void {
    if (!this.#places.has(sha256)) this.#places.set(sha256, place);
  }

  async #addIndex(place: GatheredRange, name: string): Promise<void> {
    for (const { digest, mediaType } of descriptorsIn(await documentAt(place))) {
      if (await this.#addNamed(digest, mediaType)) this.roots.set(digest, name);
    }
  }

  /** Adds a manifest that another document names, and the manifests that it names. */
  async #addNamed(digest: string, mediaType: string | undefined, depth = 0): Promise<boolean> {
    const place = this.#places.get(digest);
    if (place === undefined || depth > 4) return false;
    await this.#addManifest(place, mediaType);
    for (const child of descriptorsIn(await documentAt(place)))
      await this.#addNamed(child.digest, child.mediaType, depth + 1);
    return true;
  }

  async #addManifest(place: GatheredRange, declaredMediaType: string | undefined): Promise<string> {
    if (place.size > maxManifestBytes) throw new Refusal('api-error', 'It has a manifest of more than 4 MiB.');
    const bytes = await readAt(place.file, place.offset, place.size);
    const digest = createDigest('content sha256').update(bytes).digest('hex');
    if (this.#manifests.has(digest)) return digest;
    const mediaType = declaredMediaType ?? mediaTypeOf(readJson(bytes.toString()));
    if (mediaType === undefined || !isManifestType(mediaType)) {
      throw new Refusal(
        'api-error',
        'Its kind of manifest is not supported: it is neither an OCI manifest nor schema 2.',
      );
    }
    const contents = readManifest(mediaType, bytes);
    this.#manifests.set(digest, { place, mediaType, contents });
    const subject = contents.about?.subject.digits;
    if (subject !== undefined) this.#about.set(subject, [...(this.#about.get(subject) ?? []), digest]);
    return digest;
  }
}

interface ManifestDescriptor {
  /** Its SHA-256 in hexadecimal. */
  digest: string;
  mediaType: string | undefined;
}

async function documentAt({ file, offset, size }: GatheredRange): Promise<unknown> {
  if (size > maxManifestBytes) throw new Refusal('api-error', 'It has a manifest of more than 4 MiB.');
  return readJson((await readAt(file, offset, size)).toString());
}

function descriptorsIn(document: unknown): ManifestDescriptor[] {
  const list = (document as { manifests?: unknown } | null)?.manifests;
  return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item) => {
    const { digest, mediaType } = (item ?? {}) as { digest?: unknown; mediaType?: unknown };
    const sha256 = typeof digest === 'string' ? sha256Of(digest) : undefined;
    return sha256 === undefined
      ? []
      : { digest: sha256, mediaType: typeof mediaType === 'string' ? mediaType : undefined };
  });
}

/** Returns the media type of a manifest. OCI manifests may omit it (OCI image specification 1.1). */
function mediaTypeOf(document: unknown): string | undefined {
  const { mediaType, manifests, config } = (document ?? {}) as Record<string, unknown>;
  if (typeof mediaType === 'string') return mediaType;
  if (Array.isArray(manifests)) return 'application/vnd.oci.image.index.v1+json';
  return config === undefined ? undefined : 'application/vnd.oci.image.manifest.v1+json';
}
