// What goes out over a connection.
import type { Readable } from 'node:stream';

export interface Sent {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
}

/** How JSON is announced: exactly so, without a charset, or some clients do not recognise it. */
export const json = { 'content-type': 'application/json' };
