// Detects clients that disconnect, so that work for them can stop.
import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when the connection of the response closes, after a response or because the client disconnected. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    controller.abort();
  });
  return controller.signal;
}
