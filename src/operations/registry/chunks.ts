// Reads the body of a request in chunks as they arrive.
import type { IncomingMessage } from 'node:http';

import { ReceiveBuffer } from '#http/request/receive-buffer.ts';
import { lengthOf, type Chunks } from '#blobs/blobs.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

/** Idle timeout: a client that sends no byte for this long is disconnected; a slow one is not. */
const defaultIdleTimeoutMs = minutes(2);

/**
 * `moved` gets the number of bytes of each batch and can throw a refusal. The connection stays open after a refusal, to send the
 * response.
 */
export async function* readChunks(
  request: IncomingMessage,
  moved: (length: number) => void,
  idleTimeoutMs = defaultIdleTimeoutMs,
): AsyncGenerator<Chunks> {
  const arriving = new ReceiveBuffer(request);
  const clock = setTimeout(() => {
    // A client is not idle if the server delays it or if it has sent everything.
    if (arriving.isFull || request.complete) clock.refresh();
    else request.destroy(new Error('the sender was idle for too long'));
  }, idleTimeoutMs);
  const onData = (chunk: Buffer): void => {
    clock.refresh();
    arriving.push(chunk);
  };
  const onEnd = (): void => arriving.end();
  const onClose = (): void => {
    if (!request.readableEnded)
      arriving.fail(new Refusal('blob-upload-invalid', 'The connection ended before the body did.'));
  };
  request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  if (request.destroyed) onClose();
  try {
    for await (const chunks of arriving.content()) {
      moved(lengthOf(chunks));
      yield chunks;
    }
  } finally {
    clearTimeout(clock);
    arriving.fail(new Error('the receiver of the body has stopped'));
    request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
  }
}

/** Reads a body that must be complete before it can be processed. */
export async function readWholeBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = new Refusal(
    'request-too-large',
    `The body is larger than the ${limit} bytes that this operation accepts.`,
  );
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge;
  const body: Uint8Array[] = [];
  let size = 0;
  for await (const chunks of readChunks(request, () => undefined)) {
    size += lengthOf(chunks);
    if (size > limit) throw tooLarge;
    body.push(...chunks);
  }
  return Buffer.concat(body);
}
