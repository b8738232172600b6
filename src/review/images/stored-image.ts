// Reads the bill of materials of an image in a repository, which keeps the manifest and each blob as a file.
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';

import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { maxClaimBytes, readClaimedBill } from '../contents/claimed-bill.ts';
import { imageBillReader } from '../contents/image-contents.ts';
import { fileSource } from '../squashfs/source.ts';

export interface StoredImage {
  /** The path of the manifest, which was checked when it was pushed. */
  manifest: string;
  /** The path of each blob, by its digest. */
  blobs: Readonly<Record<string, string>>;
}

/** The maximum bytes that are unpacked of one image. */
const maxUnpackedBytes = 16 * 2 ** 30;

interface ManifestMembers {
  subject?: { digest: string };
  manifests?: unknown;
  layers?: { mediaType: string; digest: string }[];
}

export async function readStoredImage({ manifest, blobs }: StoredImage): Promise<BillOfMaterials> {
  const { subject, manifests, layers = [] } = JSON.parse(readFileSync(manifest, 'utf8')) as ManifestMembers;
  if (manifests !== undefined) return unknownBill('It is an index. Each of its images has a bill of its own.');
  if (subject !== undefined) return readReferrer(subject.digest, layers, blobs);
  const files = layers.flatMap(({ mediaType, digest }) => {
    const path = blobs[digest];
    // Attestations are layers that are no file systems.
    return /[.+]tar\b/.test(mediaType) ? [{ digest, path }] : [];
  });
  const elsewhere = files.filter(({ path }) => path === undefined).length;
  const opened = files.flatMap(({ digest, path }) =>
    path === undefined ? [] : [{ digest, file: openSync(path, 'r') }],
  );
  try {
    const bill = await imageBillReader({ left: maxUnpackedBytes })(
      opened.map(({ digest, file }) => {
        const source = fileSource(file);
        return { digest, source, start: 0, size: source.size };
      }),
    );
    return elsewhere === 0
      ? bill
      : { ...bill, gaps: [...bill.gaps, `${String(elsewhere)} of its layers are in another registry.`] };
  } finally {
    for (const { file } of opened) closeSync(file);
  }
}

/** The claim in a referrer; without a bill of materials it is no claim. */
function readReferrer(
  subject: string,
  layers: readonly { digest: string }[],
  blobs: StoredImage['blobs'],
): BillOfMaterials {
  for (const { digest } of layers) {
    const path = blobs[digest];
    if (path === undefined || statSync(path).size > maxClaimBytes) continue;
    const claim = readClaimedBill({ bytes: readFileSync(path), subject, name: digest });
    if (claim !== undefined) return claim;
  }
  return unknownBill('It is no bill of materials in JSON of CycloneDX or SPDX, or has more than 8 MiB.');
}
