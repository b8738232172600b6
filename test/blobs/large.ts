// The life of large content in a store, with each byte compared: it is received, read whole and by ranges, marked as
// corrupt by mistake, restored, verified by the scrub, and removed.
import { createCipheriv } from 'node:crypto';

import type { Blobs, ByteRange, Chunks, ReceivedBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { S3Blobs } from '#blobs/s3.ts';
import { verifyBlob } from '#integrity/verify-blob.ts';

const MiB = 1024 * 1024;
const key = Buffer.from('ada sends to bob');

/** The bytes at a place that is a multiple of 16: of a cipher, so that they can be had again from anywhere, and no two pieces are alike. */
function contentAt(start: number, length: number): Buffer {
  const counter = Buffer.alloc(16);
  counter.writeBigUInt64BE(BigInt(start / 16), 8);
  return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(length));
}

/** Compares the received pieces with the sent bytes; false after a wrong byte or a wrong length. */
async function isAsSent(pieces: AsyncIterable<unknown>, { start, end }: ByteRange): Promise<boolean> {
  let at = start;
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    const skipped = at % 16;
    const sent = contentAt(at - skipped, skipped + piece.length).subarray(skipped);
    if (!sent.equals(piece)) return false;
    at += piece.length;
  }
  return at === end + 1;
}

/** The first bytes and the last ones, across the ends of parts, within one, and beyond 32 bits. */
const rangesOf = (size: number, part: number): ByteRange[] => {
  const last = Math.floor((size - 1) / part) * part;
  const beyond = 2 ** 32 < size ? [{ start: 2 ** 32 - 5, end: 2 ** 32 + 5 }] : [];
  return [
    { start: 0, end: 0 },
    { start: 0, end: 999 },
    { start: part - 1, end: part },
    { start: part - 1001, end: 2 * part + 1001 },
    { start: part + 7, end: part + 77 },
    { start: last - 3, end: last + 3 },
    ...beyond,
    { start: size - 1000, end: size - 1 },
    { start: size - 1, end: size - 1 },
  ];
};

/** The outcome. */
export interface Passage {
  taken: ReceivedBlob;
  /** The ranges with wrong bytes; `whole` for all of them. */
  wrong: (ByteRange | 'whole')[];
  /** The status of ranges beyond the end. */
  beyond: string[];
  /** The reported size, and that of the response at an address of its own. */
  told: (number | undefined)[];
  /** Whether the quarantined blob is there, and whether it is served again. */
  verdicts: string[];
  removed: boolean;
  /** Whether it is there afterwards. */
  isLeft: boolean;
}

interface Passing {
  size: number;
  /** The size of the parts of the upload. */
  part: number;
  blobs: S3Blobs;
  /** As another process has them, which has digested nothing yet. */
  reader: S3Blobs;
  digests: DigestPool;
  /** Records each step, and does it. */
  step: <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;
}

export async function passThrough({ size, part, blobs, reader, digests, step }: Passing): Promise<Passage> {
  async function* source(): AsyncGenerator<Chunks> {
    for (let at = 0; at < size; at += MiB) yield [contentAt(at, Math.min(MiB, size - at))];
  }
  const taken = await step('receive', () =>
    blobs.receive(source(), { id: 'large', limit: size, expected: size, ownsChunks: true }),
  );
  const { sha3_384 } = taken;
  const wrong: Passage['wrong'] = [];
  await step('read whole', async () => {
    const { stream } = (await reader.open(sha3_384))!;
    if (!(await isAsSent(stream, { start: 0, end: size - 1 }))) wrong.push('whole');
  });
  const beyond = await step('read ranges', async () => {
    for (const range of rangesOf(size, part)) {
      const { stream } = (await reader.open(sha3_384, range))!;
      if (!(await isAsSent(stream, range))) wrong.push(range);
    }
    return rangesBeyond(reader, sha3_384, size);
  });
  const sizes = await step('look', async () => {
    const { address } = (await reader.addressOf!(sha3_384, 'large'))!;
    const { headers, body } = await fetch(address);
    await body?.cancel();
    return [(await reader.stat(sha3_384))?.size, Number(headers.get('content-length'))];
  });
  await step('take out of service', () => blobs.quarantine(sha3_384));
  const quarantined = await step('judge what is out of service', () =>
    verifyBlob({ sha3_384 }, blobs.quarantined, digests),
  );
  await step('put back', () => blobs.restoreQuarantined(sha3_384));
  const back = await step('judge', () => verifyBlob({ sha3_384 }, reader, digests));
  const verdicts = [quarantined.verdict, back.verdict];
  const removed = await step('remove', () => blobs.remove(sha3_384));
  const isLeft = (await reader.stat(sha3_384)) !== undefined;
  return { taken, wrong, beyond, told: sizes, verdicts, removed, isLeft };
}

async function rangesBeyond(reader: Pick<Blobs, 'open'>, sha3_384: string, size: number): Promise<string[]> {
  const became: string[] = [];
  for (const [start, end] of [
    [size - 10, size],
    [size, size],
    [size * 2, size * 2 + 5],
  ] as const) {
    const opening = reader.open(sha3_384, { start, end });
    became.push(
      await opening.then(
        () => 'given',
        (error: unknown) => (error as Error).name,
      ),
    );
  }
  return became;
}
