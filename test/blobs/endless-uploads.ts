// Receives one upload after the other, several at a time, and prints the time of each acknowledgement, until it is
// killed.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Chunks } from '#blobs/blobs.ts';
import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { startDigestWorker } from './store.ts';

const fatal = (error: Error): never => {
  throw error;
};
const directory = process.argv[2] ?? '';
const blobs = await diskBlobs({ directory, reserve: 0, digests: createDigestPool(startDigestWorker), fatal });

async function* content(): AsyncGenerator<Chunks> {
  for (let left = 1 + Math.floor(Math.random() * 30); left > 0; left -= 1) yield [randomBytes(100_000)];
}

async function uploadForEver(): Promise<never> {
  for (;;) {
    const { sha3_384 } = await blobs.receive(content(), { id: randomUUID(), limit: Infinity });
    process.stdout.write(`${sha3_384}\n`);
  }
}

await Promise.all([uploadForEver(), uploadForEver(), uploadForEver()]);
