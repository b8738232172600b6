// The requests that `npm run bench -- reads` sends for a GET.
import type { Login } from '#test/fixtures/packages/images.ts';
import type { World } from '#test/bench/harness/measured.ts';

/** A client of the image registry: its token, and an upload that it has begun. */
export interface Visit {
  token: string;
  upload: string;
}

export interface Read {
  /** The account of the token; without it the request has no token. */
  as?: 'ada' | 'bob' | 'root';
  path: string;
  /** 200 unless stated. */
  status?: number;
  headers?: Record<string, string>;
  /** Distinguishes the request from others of the operation. */
  variant?: string;
}

export type Reads = (world: World, visit: Visit) => Read[];

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

export const basic = ({ username, password }: Login): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});
