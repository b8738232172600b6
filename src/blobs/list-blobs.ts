// Lists every content. The list of a bucket may lag behind its content, so content that records need and the list omits
// is looked up individually.
import type { Blobs, StoredBlob } from './blobs.ts';

/** Yields every listed content, then the needed contents that the list omits and that exist. */
export async function* listBlobs(
  blobs: Pick<Blobs, 'list' | 'stat'>,
  needed: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<StoredBlob> {
  const listed = new Set<string>();
  for await (const blob of blobs.list()) {
    listed.add(blob.sha3_384);
    yield blob;
  }
  for await (const sha3_384 of needed) {
    const blob = listed.has(sha3_384) ? undefined : await blobs.stat(sha3_384);
    if (blob !== undefined) yield blob;
  }
}
