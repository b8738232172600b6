// Sends content that is read from somewhere, as fast as whoever gets it takes it.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { SentContent } from '#blobs/disk/sending.ts';

/** Sends the body of an answer whose headers are written; true when it did not become whole, and the connection ended. */
export async function sendContent(body: Readable, response: ServerResponse): Promise<boolean> {
  try {
    await (body instanceof SentContent ? sendPieces(body, response) : pipeline(body, response));
    return false;
  } catch {
    // What is missing at the end of an answer shows by its length, and is never made up.
    response.destroy();
    return true;
  }
}

/** Each piece is borrowed until the connection has taken it: meanwhile the next one is read, and no third. */
async function sendPieces(body: SentContent, response: ServerResponse): Promise<void> {
  let goneAway = (): void => undefined;
  const onClose = (): void => goneAway();
  response.on('close', onClose);
  try {
    for await (const piece of body.lend()) {
      await new Promise<void>((resolve, reject) => {
        goneAway = () => reject(new Error('the client went away'));
        if (response.destroyed) goneAway();
        response.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    response.end();
  } finally {
    response.off('close', onClose);
    body.destroy();
  }
}
