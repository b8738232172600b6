// The bytes of a request's body, as they come.
import type { IncomingMessage } from 'node:http';

import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

/** A sender who stands still for so long is given up; one who moves, however slowly, is not. */
const patience = minutes(2);

/**
 * `moved` is told how many bytes each chunk has, and may refuse to go on. The connection outlives a refusal, to answer it.
 */
export async function* chunksOf(
  request: IncomingMessage,
  moved: (length: number) => void,
  idle = patience,
): AsyncGenerator<Buffer> {
  let waits = false;
  const clock = setTimeout(() => {
    // A sender whom our own side makes wait is not the one who stands still.
    if (waits) request.destroy(new Error('the sender stood still'));
    else clock.refresh();
  }, idle);
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  try {
    for (;;) {
      waits = true;
      clock.refresh();
      const { done, value } = await chunks.next().catch((): never => {
        throw new Refusal('blob-upload-invalid', 'The connection ended before the body did.');
      });
      waits = false;
      if (done === true) break;
      moved(value.length);
      yield value;
    }
    if (!request.complete) throw new Refusal('blob-upload-invalid', 'The connection ended before the body did.');
  } finally {
    clearTimeout(clock);
    await chunks.return?.();
  }
}

/** A body that has to be there whole before anything can be said of it. */
export async function wholeBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = new Refusal('request-too-large', `The body is larger than the ${limit} bytes that are taken here.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(request, () => undefined)) {
    size += chunk.length;
    if (size > limit) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
