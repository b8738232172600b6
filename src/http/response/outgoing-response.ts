// A response on its way to the connection.
import type { Readable } from 'node:stream';

export interface OutgoingResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
}

/** The exact Content-Type of JSON: with a charset some clients do not recognize it. */
export const json = { 'content-type': 'application/json' };
