import type { Blobs } from '#blobs/blobs.ts';

/** Small content as a whole, such as a statement, an icon or assertions; nothing where it is not there. */
export async function wholeOf(blobs: Pick<Blobs, 'open'>, sha3_384: string): Promise<Buffer | undefined> {
  const found = await blobs.open(sha3_384);
  if (found === undefined) return undefined;
  return Buffer.concat(await Array.fromAsync(found.stream as AsyncIterable<Buffer>));
}
