import { randomUUID } from '#domain/cryptography.ts';
import type { Blobs, ReceivedBlob } from '#blobs/blobs.ts';

/** Reads small content at once, such as a statement, an icon or assertions. Returns undefined if it is missing. */
export async function readBlob(blobs: Pick<Blobs, 'open'>, sha3_384: string): Promise<Buffer | undefined> {
  const blob = await blobs.open(sha3_384);
  if (blob === undefined) return undefined;
  const whole = Buffer.from(new ArrayBuffer(blob.size));
  let length = 0;
  for await (const some of blob.stream as AsyncIterable<Buffer>) length += some.copy(whole, length);
  return whole.subarray(0, length);
}

/** Stores bytes from memory as a blob. They may be large: the statement of a transfer of 10,000 packages has 10 MB. */
export function storeBytes(bytes: Uint8Array, blobs: Pick<Blobs, 'receive'>): Promise<ReceivedBlob> {
  // Digesting copies each piece, so yield small pieces.
  const inPieces = async function* (): AsyncGenerator<[Uint8Array]> {
    for (let at = 0; at < bytes.length; at += piece) yield [bytes.subarray(at, at + piece)];
  };
  return blobs.receive(inPieces(), { id: randomUUID(), limit: bytes.length, expected: bytes.length });
}

const piece = 1024 * 1024;
