// A plain server that takes uploads into a blob store, for tests in another process: `POST /` uploads and answers with
// the digests, `GET /memory` says how many bytes of memory the process has used at most, and how many of buffers it has
// now. It prints its port.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiveUpload } from '#http/request/multipart.ts';
import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Memory } from './large-upload.ts';
import { startWorker } from '#platform/embedded.ts';

const fatal = (error: Error): never => {
  throw error;
};
const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
const blobs = await diskBlobs({ directory: process.argv[2] ?? '', reserve: 0, digests, fatal });

function memory(): Memory {
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return { peak: Number(kibibytes) * 1024, buffers: process.memoryUsage().arrayBuffers };
}

async function upload(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const limit = 64 * 1024 ** 3;
  const taken = await receiveUpload(request, response, {
    field: 'binary',
    limit,
    idle: 120_000,
    receive: (content, expected) => blobs.receive(content, { id: randomUUID(), limit, expected, ownsChunks: true }),
  });
  // Only what a large upload costs is of interest, not the disk it would fill.
  await blobs.remove(taken.sha3_384);
  return taken;
}

const server = createServer(async (request, response) => {
  try {
    response.end(JSON.stringify(request.url === '/memory' ? memory() : await upload(request, response)));
  } catch (error) {
    response.statusCode = error instanceof Refusal ? error.status : 500;
    response.end(JSON.stringify(String(error)));
  }
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
