// Requests to the OpenID provider. They reach the hosts of the configuration only, follow no redirect, and are bounded in time and size.
import type { IncomingMessage } from 'node:http';
import { request as startRequest } from 'node:https';

import type { CustomFetch, CustomFetchOptions } from 'openid-client';

import { authorityIn, type OidcSettings } from '#configuration/config.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { hours, seconds, type Now } from '#domain/clock.ts';

/** Thrown if the provider cannot be reached or fails, so that a later request may succeed. */
export class ProviderUnavailable extends Error {}

const timeoutMs = seconds(10);
/** A token with 10,000 groups has about 500 kB. */
const maxBytes = 1024 * 1024;
/** The documents and keys of the provider are used again for this long, and much longer while the provider is away. */
const freshForMs = seconds(60);
const staleForMs = hours(24);

interface ProviderResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  at: number;
}

export interface ProviderRequestOptions {
  settings: () => OidcSettings;
  now: Now;
}

/** Creates the function that sends the requests of the library. Successful GET requests without a token are cached. */
export function createProviderRequests({ settings, now }: ProviderRequestOptions): CustomFetch {
  const cache = new BoundedMap<string, ProviderResponse>(8);
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const { issuer = '', hosts, authority_file: authorityFile } = settings();
    if (url.protocol !== 'https:' || ![new URL(issuer).host, ...hosts].includes(url.host)) {
      throw new ProviderUnavailable(
        `the OpenID provider names ${url.origin}, and identity.oidc.hosts does not list that host`,
      );
    }
    const isCached = method === 'GET' && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    const [key, at] = [JSON.stringify([issuer, address]), now().getTime()];
    const cached = isCached ? cache.get(key) : undefined;
    if (cached !== undefined && Math.abs(at - cached.at) < freshForMs) return toResponse(cached);
    try {
      const authority = authorityFile === undefined ? undefined : authorityIn(authorityFile);
      const response = await send(url, { method, headers, body: textOf(body), authority });
      if (response.status >= 500) throw new ProviderUnavailable(`${url.host} responded with status ${response.status}`);
      if (isCached && response.status === 200) cache.set(key, { ...response, at });
      return toResponse(response);
    } catch (error) {
      if (cached !== undefined && Math.abs(at - cached.at) < staleForMs) return toResponse(cached);
      throw error;
    }
  };
}

/** The library sends forms, and requests without a body. */
const textOf = (body: CustomFetchOptions['body']): string =>
  typeof body === 'string' || body instanceof URLSearchParams ? body.toString() : '';

const toResponse = ({ status, headers, body }: Omit<ProviderResponse, 'at'>): Response =>
  new Response([204, 304].includes(status) ? null : new Uint8Array(body), { status, headers });

interface OutgoingRequest {
  method: string;
  headers: Record<string, string>;
  body: string;
  authority: string | undefined;
}

function send(url: URL, { method, headers, body, authority }: OutgoingRequest): Promise<Omit<ProviderResponse, 'at'>> {
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void => {
      reject(new ProviderUnavailable(`${url.host} ${problem}`, { cause }));
    };
    const request = startRequest(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) },
      agent: false,
      ca: authority,
      minVersion: 'TLSv1.2',
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
      fail(isLate ? 'did not respond within 10 s' : `cannot be reached (${error.code ?? error.message})`, error);
    });
    request.once('response', (response) => {
      readBounded(response).then(
        (read) => {
          resolve({ status: response.statusCode ?? 500, headers: textHeaders(response), body: read });
        },
        (error: unknown) => {
          request.destroy();
          fail('sent no complete response', error);
        },
      );
    });
    request.end(body);
  });
}

async function readBounded(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error('it is larger than 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The headers that the library reads. */
const textHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    ['content-type', 'www-authenticate'].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    ),
  );
