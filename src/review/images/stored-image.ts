// Reads the bill of materials of an image in a repository, which keeps the manifest and each blob as a file.
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';

import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { attestedImage, maxClaimBytes, readClaimedBill } from '../contents/claimed-bill.ts';
import { imageBillReader, LayerCache } from '../contents/image-contents.ts';
import { fileSource } from '../squashfs/source.ts';

export interface StoredImage {
  /** The path of the manifest, which was checked when it was pushed. */
  manifest: string;
  /** The path of each blob, by its digest. */
  blobs: Readonly<Record<string, string>>;
}

/** The maximum bytes that are unpacked of one image. */
const maxUnpackedBytes = 16 * 2 ** 30;
/** A small image may unpack to this, and a larger one to this multiple of its bytes: a transfer of many bombs takes no hours. */
const [minUnpackedBytes, maxUnpackedRatio] = [64 << 20, 100];
const maxLayers = 500;
/** Images of a transfer and of a repository share layers. */
const cachedLayers = new LayerCache(16 << 20);

interface ManifestMembers {
  subject?: { digest: string };
  manifests?: unknown;
  layers?: { mediaType: string; digest: string }[];
}

export async function readStoredImage({ manifest, blobs }: StoredImage): Promise<BillOfMaterials> {
  const { subject, manifests, layers = [] } = JSON.parse(readFileSync(manifest, 'utf8')) as ManifestMembers;
  if (manifests !== undefined) return unknownBill('It is an index. Each of its images has a bill of its own.');
  if (subject !== undefined) return readReferrer(subject.digest, layers, blobs);
  const attestation = readAttestation(layers, blobs);
  if (attestation !== undefined) return attestation;
  const files = layers.flatMap(({ mediaType, digest }) => {
    const path = blobs[digest];
    // Layers of other types are no file systems.
    return /[.+]tar\b/.test(mediaType) ? [{ digest, path }] : [];
  });
  if (files.length > maxLayers) return unknownBill(`It has more than ${String(maxLayers)} layers.`);
  const elsewhere = files.filter(({ path }) => path === undefined).length;
  const bill = await readLayers(files.flatMap(({ digest, path }) => (path === undefined ? [] : [{ digest, path }])));
  return elsewhere === 0
    ? bill
    : { ...bill, gaps: [...bill.gaps, `${String(elsewhere)} of its layers are in another registry.`] };
}

async function readLayers(layers: readonly { digest: string; path: string }[]): Promise<BillOfMaterials> {
  const opened: { digest: string; file: number }[] = [];
  try {
    for (const { digest, path } of layers) opened.push({ digest, file: openSync(path, 'r') });
    const sources = opened.map(({ digest, file }) => {
      const source = fileSource(file);
      return { digest, source, start: 0, size: source.size };
    });
    const bytes = sources.reduce((sum, { size }) => sum + size, 0);
    const left = Math.min(maxUnpackedBytes, minUnpackedBytes + maxUnpackedRatio * bytes);
    return await imageBillReader({ left }, cachedLayers)(sources);
  } finally {
    for (const { file } of opened) closeSync(file);
  }
}

/**
 * The bill of an attestation of BuildKit, which is listed in the index of its image and has no subject: every layer is a
 * statement about that image (docs/attestations/attestation-storage.md of BuildKit). Undefined for all else.
 */
function readAttestation(
  layers: readonly { mediaType: string; digest: string }[],
  blobs: StoredImage['blobs'],
): BillOfMaterials | undefined {
  let about: string | undefined;
  if (layers.length > maxLayers) return undefined;
  for (const { mediaType, digest } of layers) {
    const bytes = mediaType === 'application/vnd.in-toto+json' ? readDocument(blobs[digest]) : undefined;
    const image = bytes && attestedImage(bytes);
    if (image === undefined || (about ?? image) !== image) return undefined;
    about = image;
  }
  return about === undefined ? undefined : { ...readReferrer(`sha256:${about}`, layers, blobs), about };
}

/** The bytes of a document; undefined if it is elsewhere or too long. */
const readDocument = (path: string | undefined): Uint8Array | undefined =>
  path === undefined || statSync(path).size > maxClaimBytes ? undefined : readFileSync(path);

/** The claim in a referrer; without a bill of materials it is no claim. */
function readReferrer(
  subject: string,
  layers: readonly { digest: string }[],
  blobs: StoredImage['blobs'],
): BillOfMaterials {
  for (const { digest } of layers) {
    const bytes = readDocument(blobs[digest]);
    const claim = bytes && readClaimedBill({ bytes, subject, name: digest });
    if (claim !== undefined) return claim;
  }
  return unknownBill('It is no bill of materials in JSON of CycloneDX or SPDX, or has more than 8 MiB.');
}
