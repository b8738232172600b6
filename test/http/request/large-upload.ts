// Sends uploads that are too large for memory to a server in a process of its own.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import type { ReceivedBlob } from '#blobs/blobs.ts';

export interface Memory {
  /** Bytes the server has used at most. */
  peak: number;
  /** Bytes of buffers that lie in it now. */
  buffers: number;
}

export interface UploadServer {
  port: number;
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

/** The bytes that an upload repeats, so that a test of its digests need not store the whole. */
export const piece = randomBytes(1024 * 1024);

export async function startUploadServer(directory: string): Promise<UploadServer> {
  const program = join(import.meta.dirname, 'upload-server.ts');
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  return {
    port,
    async memory() {
      return (await (await fetch(`http://127.0.0.1:${port}/memory`)).json()) as Memory;
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Sends `pieces` times the same bytes as one file. */
export async function sendLargeUpload(port: number, pieces: number): Promise<ReceivedBlob> {
  const head = '--x\r\nContent-Disposition: form-data; name="binary"; filename="large"\r\n\r\n';
  const tail = '\r\n--x--\r\n';
  const call = request({
    port,
    host: '127.0.0.1',
    // Not a connection that the server may have closed while it was idle.
    agent: false,
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': head.length + pieces * piece.length + tail.length,
    },
  });
  const answered = once(call, 'response');
  call.write(head);
  // After the response, the rest is not read.
  for (let sent = 0; sent < pieces; sent += 1)
    if (!call.write(piece)) await Promise.race([once(call, 'drain'), answered]);
  call.end(tail);
  const [response] = (await answered) as [AsyncIterable<Buffer> & { statusCode: number }];
  const text = [];
  for await (const chunk of response) text.push(chunk);
  if (response.statusCode !== 200)
    throw new Error(`the upload was answered with ${response.statusCode}: ${text.join('')}`);
  return JSON.parse(text.join('')) as ReceivedBlob;
}
