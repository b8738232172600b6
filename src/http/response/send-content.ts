// Streams content to a client at the speed of the client.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { SentContent } from '#blobs/disk/sent-content.ts';

/** Sends the body of a response after its headers. Returns true if the body is incomplete and the connection has ended. */
export async function sendContent(body: Readable, response: ServerResponse): Promise<boolean> {
  try {
    await (body instanceof SentContent ? sendPieces(body, response) : pipeline(body, response));
    return false;
  } catch {
    // The client notices a missing end by the length; the response is never padded.
    response.destroy();
    return true;
  }
}

/** Each chunk is in use until the connection has taken it; the next one is read during that time, but not a third. */
async function sendPieces(body: SentContent, response: ServerResponse): Promise<void> {
  let rejectPending = (): void => undefined;
  const onClose = (): void => rejectPending();
  response.on('close', onClose);
  try {
    for await (const piece of body.lend()) {
      await new Promise<void>((resolve, reject) => {
        rejectPending = () => reject(new Error('the client went away'));
        if (response.destroyed) rejectPending();
        response.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    response.end();
  } finally {
    response.off('close', onClose);
    body.destroy();
  }
}
