// Calls the HTTP interface of a store under trial, on this host.
import { createDigest } from '#domain/cryptography.ts';

/** The connection ended before the whole response was there: the change may or may not have been made. */
export class ConnectionCut extends Error {}

export interface ApiReply {
  status: number;
  body: unknown;
}

/** The store that a client calls, and the credential of its administrator. */
export interface StoreClient {
  readonly url: string;
  /** The content of admin.macaroon. */
  readonly credential: string;
  /** The token of the administrator; empty before the first exchange. */
  token: string;
}

const timeoutMs = 60_000;

/** Runs a request and reads its body; throws ConnectionCut if either does not complete. */
async function complete<Body>(request: () => Promise<Response>, read: (reply: Response) => Promise<Body>) {
  try {
    const reply = await request();
    return { status: reply.status, body: await read(reply) };
  } catch (cause) {
    throw new ConnectionCut('the connection was cut', { cause });
  }
}

const readJson = (reply: Response): Promise<unknown> => reply.json();

/** Calls an operation with JSON. */
export function callStore(
  { url, token }: Pick<StoreClient, 'url' | 'token'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiReply> {
  const init: RequestInit = {
    method,
    signal: AbortSignal.timeout(timeoutMs),
    headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: `Macaroon ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  return complete(() => fetch(url + path, init), readJson);
}

/** Uploads a file without claiming it for a package. */
export function uploadContent({ url }: Pick<StoreClient, 'url'>, content: Uint8Array<ArrayBuffer>): Promise<ApiReply> {
  const form = new FormData();
  form.set('binary', new Blob([content]), 'file');
  const init = { method: 'POST', body: form, signal: AbortSignal.timeout(timeoutMs) };
  return complete(() => fetch(`${url}/unscanned-upload/`, init), readJson);
}

/** Downloads a revision of a snap as a device does; returns the digest of the bytes. */
export async function downloadSnap(
  { url, token }: Pick<StoreClient, 'url' | 'token'>,
  file: string,
): Promise<{ status: number; digest: string }> {
  const init = { headers: { authorization: `Macaroon ${token}` }, signal: AbortSignal.timeout(timeoutMs) };
  const { status, body } = await complete(
    () => fetch(`${url}/api/v1/snaps/download/${file}`, init),
    (reply) => reply.arrayBuffer(),
  );
  return { status, digest: digestContent(new Uint8Array(body)) };
}

export const digestContent = (content: Uint8Array): string =>
  createDigest('content sha3-384').update(content).digest('hex');

/** Exchanges the credential of the administrator for a token. */
export async function requestToken({ url, credential }: Pick<StoreClient, 'url' | 'credential'>): Promise<ApiReply> {
  return callStore({ url, token: '' }, 'POST', '/v1/tokens/offline/exchange', { macaroon: credential });
}

export const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) }).then(
    async (reply) => {
      await reply.arrayBuffer();
      return reply.status === 200;
    },
    () => false,
  );
