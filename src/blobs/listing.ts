// Everything that is there. A bucket may be late to list what it has, so what records need and no list names is asked for itself.
import type { Blobs, StoredBlob } from './blobs.ts';

/** What a list names, and those of the needed that it does not and that are there. */
export async function* everyBlob(
  blobs: Pick<Blobs, 'list' | 'stat'>,
  needed: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<StoredBlob> {
  const listed = new Set<string>();
  for await (const blob of blobs.list()) {
    listed.add(blob.sha3_384);
    yield blob;
  }
  for await (const sha3_384 of needed) {
    const found = listed.has(sha3_384) ? undefined : await blobs.stat(sha3_384);
    if (found !== undefined) yield found;
  }
}
