// Uploads beside computing the two digests of the same bytes alone, and the memory that a large one takes.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';

import { median, startServer, stopServer } from './measure.ts';
import { fillStore } from './store.ts';

const rounds = 3;
const size = 1024 ** 3;
const large = 8 * 1024 ** 3;
const chunk = Buffer.alloc(1024 * 1024, 'larder ');

/** Prints both throughputs, their ratio, and the peak of resident memory over an upload of 8 GiB. */
export async function uploads(): Promise<void> {
  const { directory, store } = await fillStore(1, 1);
  await store.close();
  const { child, told } = await startServer<{ port: number }>('store-server.ts', directory);
  await send(told.port, 16 * 1024 * 1024, 0);
  const alone: number[] = [];
  const uploaded: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    alone.push(await seconds(() => digest(size)));
    uploaded.push(await seconds(() => send(told.port, size, round)));
  }
  const megabytes = size / 1e6;
  const ratios = alone.map((time, round) => time / (uploaded[round] ?? NaN));
  console.log('uploads of 1 GiB, client and server on the same cores');
  console.log(`  sha3-384 and sha256 alone    ${(megabytes / median(alone)).toFixed(0).padStart(5)} MB/s`);
  console.log(`  upload, hashed and synced    ${(megabytes / median(uploaded)).toFixed(0).padStart(5)} MB/s`);
  console.log(
    `  ratio ${median(ratios).toFixed(3)} (of ${rounds} rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
  );
  await send(told.port, large, rounds + 1);
  const peak =
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1] ?? NaN) / 1024;
  console.log(`  peak resident memory over an upload of 8 GiB: ${peak.toFixed(0)} MiB`);
  await stopServer(child);
  rmSync(directory, { recursive: true, force: true });
}

async function seconds(work: () => Promise<void> | void): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
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
async function send(port: number, bytes: number, round: number): Promise<void> {
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
