import { randomUUID } from 'node:crypto';

import type { Blobs, TakenBlob } from '#blobs/blobs.ts';

/** Small content as a whole, such as a statement, an icon or assertions; nothing where it is not there. */
export async function wholeOf(blobs: Pick<Blobs, 'open'>, sha3_384: string): Promise<Buffer | undefined> {
  const found = await blobs.open(sha3_384);
  if (found === undefined) return undefined;
  const whole = Buffer.from(new ArrayBuffer(found.size));
  let length = 0;
  for await (const some of found.stream as AsyncIterable<Buffer>) length += some.copy(whole, length);
  return whole.subarray(0, length);
}

/** Takes the memory of what came as a whole, now and not when garbage is collected: it has no bytes any more. */
export function giveBack(whole: Buffer): void {
  (whole.buffer as ArrayBuffer).transfer(0);
}

/** Keeps something that is at hand as a whole, however large: a statement of 10,000 packages has ten million bytes. */
export function keepWhole(bytes: Uint8Array, blobs: Pick<Blobs, 'receive'>): Promise<TakenBlob> {
  const once = async function* (): AsyncGenerator<[Uint8Array]> {
    yield [bytes];
  };
  return blobs.receive(once(), { id: randomUUID(), limit: bytes.length, expected: bytes.length });
}
