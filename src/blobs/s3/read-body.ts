// The bytes of an object as they are received. A lost connection or a silent server cuts them off: missing bytes are
// never replaced, and an interruption is no sign that the object is corrupt.
import type { Readable } from 'node:stream';

import { unavailable } from './errors.ts';
import type { Requests } from './requests.ts';

export async function* readBody(requests: Requests, body: Readable, size: number): AsyncGenerator<Uint8Array> {
  const watch = requests.watch();
  watch.signal.addEventListener('abort', () => body.destroy(watch.signal.reason as Error), { once: true });
  let length = 0;
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      length += piece.length;
      requests.traffic.bytesReceived += piece.length;
      requests.hear();
      yield piece;
    }
    if (length !== size) throw new Error(`there came ${String(length)} bytes of ${String(size)}`);
  } catch (error) {
    throw unavailable(error);
  } finally {
    watch.end();
    body.destroy();
  }
}
