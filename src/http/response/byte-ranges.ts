// Byte ranges of content (RFC 9110, 14).
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Blobs, ByteRange } from '#blobs/blobs.ts';
import type { DownloadLimiter } from '#blobs/download-limiter.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Config } from '#configuration/config.ts';
import { attachment, safeFileName } from './content-disposition.ts';
import { OperationResponse } from '../operation.ts';
import { findNginxHeaders, type DownloadCall } from './nginx-downloads.ts';

/** Returns the requested byte range (RFC 9110, 14.1.2). Ignores other kinds of ranges; refuses a range beyond the end. */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  if (start <= end) return { start, end };
  throw new Refusal('range-invalid', `The blob has ${size} bytes; there is nothing in this range.`, undefined, {
    'content-range': `bytes */${size}`,
  });
}

/** Whether the part that a client has belongs to this content (RFC 9110, 13.1.5); a date never proves that. */
export const isRangeCurrent = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  headers['if-range'] === undefined || headers['if-range'] === etag;

/** Whether a client already has the whole content (RFC 9110, 13.1.2). */
export const matchesEtag = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((candidate) => ['*', etag, `W/${etag}`].includes(candidate.trim()));

/** Not part of a response that nginx completes: it adds the same header. */
export const acceptRanges = { 'accept-ranges': 'bytes' };

/** Responds with content, or a range of it, or lets nginx send it; throws `missing` if the blob does not exist or has another size. */
export async function respondWithBlob(
  of: { sha3_384: string; size: number; range: ByteRange | undefined; headers: Record<string, string> },
  call: DownloadCall,
  missing: () => Error,
): Promise<OperationResponse> {
  const { sha3_384, size, range, headers } = of;
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const partial = range && { 'content-range': `bytes ${start}-${end}/${size}` };
  const status = range === undefined ? 200 : 206;
  const byNginx = await findNginxHeaders({ sha3_384, size, isWhole: range === undefined }, call);
  if (byNginx !== undefined) return new OperationResponse({ status, headers: { ...headers, ...partial, ...byNginx } });
  const content = await call.blobs.open(sha3_384, range);
  if (content?.size !== size) {
    content?.stream.destroy();
    throw missing();
  }
  const sized = { ...headers, ...acceptRanges, ...partial, 'content-length': String(end - start + 1) };
  return new OperationResponse({ status, headers: sized, body: content.stream });
}

/**
 * Returns an address at the file server where a client can fetch the content for a few minutes. Undefined if the configuration does not
 * allow it, or if the client would also send its credentials there, as it does to a server with the same name or a subdomain.
 */
export async function findDownloadUrl(
  { name, sha3_384, size }: Pick<NumberedFile, 'name' | 'sha3_384' | 'size'>,
  { blobs, config }: { blobs: Pick<Blobs, 'addressOf'>; config: Config },
  missing: () => Error,
): Promise<string | undefined> {
  if (!config.blobs.redirect_downloads || blobs.addressOf === undefined) return undefined;
  const remote = await blobs.addressOf(sha3_384, safeFileName(name));
  if (remote?.size !== size) throw missing();
  const own = new URL(config.http.base_url).hostname;
  const { hostname, href } = remote.address;
  return hostname === own || hostname.endsWith(`.${own}`) ? undefined : href;
}

/** Redirects a client; not cached, because the address soon expires. */
export const redirectTo = (status: 302 | 307, location: string, headers: Record<string, string>): OperationResponse =>
  new OperationResponse({
    status,
    headers: { ...headers, location, 'cache-control': 'no-store', 'content-length': '0' },
  });

/** The declarations of an operation that responds with a numbered file. */
export const fileResponses = {
  produces: ['application/octet-stream'],
  also: { 206: 'The requested range of bytes.', 304: 'The copy of the client is current.' },
  headers: ['etag', 'vary', 'content-range', 'content-disposition'],
  refuses: ['range-invalid', 'too-many-requests'],
} as const;

/** A file that got its number once; its bytes never change. */
interface NumberedFile {
  /** The last part of its address; browsers save the file under this name. */
  name: string;
  sha3_384: string;
  size: number;
  /** Whether shared caches must not store it. */
  private: boolean;
}

/**
 * Responds with the whole file, the requested range, or 304 if the client has it; refuses while the maximum of downloads is running.
 * `mayLeave` says whether the client may be redirected to the file server.
 */
export async function respondWithFile(
  { name, sha3_384, size, private: only }: NumberedFile,
  { request, response, blobs, downloads, config }: Downloading,
  { mayLeave = false }: { mayLeave?: boolean } = {},
): Promise<OperationResponse> {
  const etag = `"${sha3_384}"`;
  const cacheHeaders = {
    etag,
    'cache-control': `${only ? 'private' : 'public'}, max-age=31536000, immutable`,
  };
  if (matchesEtag(request, etag))
    return new OperationResponse({ status: 304, headers: { ...cacheHeaders, ...acceptRanges } });
  const headers = {
    ...cacheHeaders,
    'content-type': 'application/octet-stream',
    ...attachment(name),
  };
  if (request.method === 'HEAD') {
    if ((await blobs.stat(sha3_384))?.size !== size) throw outOfService();
    return new OperationResponse({ headers: { ...headers, ...acceptRanges, 'content-length': String(size) } });
  }
  const range = isRangeCurrent(request, etag) ? parseRange(request.headers.range, size) : undefined;
  const location = mayLeave
    ? await findDownloadUrl({ name, sha3_384, size }, { blobs, config }, outOfService)
    : undefined;
  if (location !== undefined) return redirectTo(302, location, { etag });
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const ended = await downloads.begin(end - start + 1);
  const { socket } = request;
  const before = socket.bytesWritten;
  response.once('close', () => {
    ended(socket.bytesWritten - before);
  });
  // Ends the download at once if the client has already disconnected.
  if (response.closed) ended(0);
  return respondWithBlob({ sha3_384, size, range, headers }, { request, blobs, config }, outOfService);
}

/** A request for a file, and its response. */
interface Downloading extends DownloadCall {
  response: ServerResponse;
  downloads: DownloadLimiter;
}

/** The file was corrupt and is in quarantine until it is uploaded again. Not a retryable status: devices would ask again and again. */
const outOfService = (): Refusal =>
  new Refusal('resource-not-found', 'The file is corrupt and out of service until its publisher sends it again.');
