// Measures uploads against plain hashing of the same bytes: `node test/http/request/measure-uploads.ts [MiB] [rounds] [folder]`.
// Client and server are two processes on this machine and share its cores.
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { piece, sendLargeUpload, startUploadServer } from './large-upload.ts';

const [, , pieces = '2048', rounds = '3', folder = tmpdir()] = process.argv;

function hash(times: number): void {
  const hashes = ['sha3-384', 'sha256'].map((algorithm) => createHash(algorithm));
  for (let nth = 0; nth < times; nth += 1) for (const hasher of hashes) hasher.update(piece);
}

async function rate(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return Number(pieces) / ((performance.now() - start) / 1000);
}

const directory = await mkdtemp(join(folder, 'larder-measure-'));
const server = await startUploadServer(directory);
try {
  for (let round = 1; round <= Number(rounds); round += 1) {
    const hashing = await rate(() => hash(Number(pieces)));
    const uploading = await rate(() => sendLargeUpload(server.port, Number(pieces)));
    const ratio = (uploading / hashing).toFixed(2);
    console.log(`hashing ${hashing.toFixed(0)} MiB/s, uploading ${uploading.toFixed(0)} MiB/s: ${ratio}`);
  }
  console.log(`peak memory of the server ${((await server.memory()).peak / 1024 ** 2).toFixed(0)} MiB`);
} finally {
  await server.stop();
  await rm(directory, { recursive: true });
}
