// Uploads beside computing the two digests of the same bytes alone, and the memory that a large one takes.
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';

import {
  busyness,
  costTo,
  median,
  medianCost,
  peakMemory,
  startServer,
  stopServer,
  type Cost,
} from './harness/measure.ts';
import { fillStore } from './harness/store.ts';

const rounds = 3;
const size = 1024 ** 3;
const large = 8 * 1024 ** 3;
const chunk = Buffer.alloc(1024 * 1024, 'larder ');

/**
 * Prints both throughputs and their ratio, the cost of an upload for the server, and the memory during and after it.
 */
export async function uploads(): Promise<void> {
  const { directory, store } = await fillStore(1, 1);
  await store.close();
  const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', directory);
  await send(ready.port, 16 * 1024 * 1024, 0);
  const alone: Cost[] = [];
  const uploaded: Cost[] = [];
  for (let round = 1; round <= rounds; round++) {
    alone.push(await costTo(process.pid, async () => digest(size)));
    uploaded.push(await costTo(child.pid, () => send(ready.port, size, round)));
  }
  const speed = ({ wall }: Cost): string => (size / 1000 / wall).toFixed(0).padStart(5);
  const ratios = alone.map(({ wall }, round) => wall / (uploaded[round]?.wall ?? NaN));
  const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(2);
  const { main, all } = medianCost(uploaded);
  console.log(`uploads of 1 GiB, client and server on the same cores; ${busyness()}`);
  console.log(`  sha3-384 and sha256 alone    ${speed(medianCost(alone))} MB/s`);
  console.log(`  upload, hashed and synced    ${speed(medianCost(uploaded))} MB/s`);
  console.log(
    `  ratio ${median(ratios).toFixed(3)} (of ${rounds} rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
  );
  const mains = uploaded.map((cost) => seconds(cost.main)).join(', ');
  console.log(`  CPU of the main thread ${seconds(main)} s (${mains}), of all threads ${seconds(all)} s`);
  console.log(`  CPU of the digests alone ${seconds(medianCost(alone).main)} s`);
  const { rss, external, heapUsed } = await memoryOf(child);
  const MiB = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;
  console.log(`  memory afterwards: ${MiB(rss)}, of which ${MiB(heapUsed)} objects and ${MiB(external)} buffers`);
  console.log(`  peak resident memory ${peakMemory(child.pid).toFixed(0)} MiB`);
  if (process.env['LARDER_LONG'] === '1') {
    await send(ready.port, large, rounds + 1);
    console.log(`  peak resident memory over an upload of 8 GiB: ${peakMemory(child.pid).toFixed(0)} MiB`);
  }
  await stopServer(child);
  rmSync(directory, { recursive: true, force: true });
}

/** The parts of the memory of the server, before a garbage collection. */
async function memoryOf(child: ChildProcess): Promise<NodeJS.MemoryUsage> {
  const answered = once(child, 'message');
  child.send('memory');
  const [memory] = (await answered) as [NodeJS.MemoryUsage];
  return memory;
}

function digest(bytes: number): void {
  const [sha3, sha2] = [createHash('sha3-384'), createHash('sha256')];
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    sha3.update(chunk);
    sha2.update(chunk);
  }
  sha3.digest();
  sha2.digest();
}

/** Sends a form as the stock clients do: one part, its length announced. `round` makes each content another one. */
export async function send(port: number, bytes: number, round: number): Promise<void> {
  const head = `--b\r\nContent-Disposition: form-data; name="binary"; filename="f"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = '\r\n--b--\r\n';
  const socket = connect(port, '127.0.0.1');
  const answered = new Promise<string>((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.on('end', () => resolve(text)).on('error', reject);
  });
  socket.write(
    `POST /unscanned-upload/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
      `Content-Length: ${head.length + bytes + tail.length}\r\n\r\n${head}`,
  );
  const first = Buffer.from(chunk);
  first.writeUInt32BE(round);
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    if (!socket.write(sent === 0 ? first : chunk)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  socket.write(tail);
  const answer = await answered;
  if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`cannot measure: ${answer.slice(0, 500)}`);
}
