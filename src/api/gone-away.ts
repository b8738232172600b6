// Clients that hang up: who waits for them waits no more.
import type { ServerResponse } from 'node:http';

/** Aborted as soon as the answer's connection closes, whether it was answered or the client has gone. */
export function goneAway(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    controller.abort();
  });
  return controller.signal;
}
