// Ranges of bytes, as a client asks for a part of a content (RFC 9110, 14).
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Blobs, ByteRange } from '#blobs/blobs.ts';
import type { Downloads } from '#blobs/downloads.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Config } from '#src/config.ts';
import { attachment, safeFileName } from './content-disposition.ts';
import { Answer } from './operation.ts';

/**
 * The one range of bytes that is asked for (RFC 9110, 14.1.2). What is no such thing is ignored; what lies beyond the end is
 * refused.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | undefined {
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

/** Whether a client that has a part still has a part of this very content (RFC 9110, 13.1.5); a date never says so. */
export const stillHolds = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  headers['if-range'] === undefined || headers['if-range'] === etag;

/** Whether a client has the whole content already (RFC 9110, 13.1.2). */
export const hasAlready = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));

/** Answers with a content, or with a range of it; `missing` is thrown where it is not there, or not of its size. */
export async function answerWith(
  of: { sha3_384: string; size: number; range: ByteRange | undefined; headers: Record<string, string> },
  blobs: Pick<Blobs, 'open'>,
  missing: () => Error,
): Promise<Answer> {
  const { sha3_384, size, range, headers } = of;
  const content = await blobs.open(sha3_384, range);
  if (content?.size !== size) {
    content?.stream.destroy();
    throw missing();
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const sized = { ...headers, 'content-length': String(end - start + 1) };
  if (range === undefined) return new Answer({ status: 200, headers: sized, body: content.stream });
  const partial = { ...sized, 'content-range': `bytes ${start}-${end}/${size}` };
  return new Answer({ status: 206, headers: partial, body: content.stream });
}

/**
 * Where the server of the files gives a content itself, for a few minutes; nothing where the configuration does not say so, or
 * where a client would take along what it has shown here, as it does to a server of the same name or of one below it.
 */
export async function elsewhere(
  { name, sha3_384, size }: Pick<NumberedFile, 'name' | 'sha3_384' | 'size'>,
  { blobs, config }: { blobs: Pick<Blobs, 'addressOf'>; config: Config },
  missing: () => Error,
): Promise<string | undefined> {
  if (!config.blobs.redirect_downloads || blobs.addressOf === undefined) return undefined;
  const found = await blobs.addressOf(sha3_384, safeFileName(name));
  if (found?.size !== size) throw missing();
  const own = new URL(config.http.base_url).hostname;
  const { hostname, href } = found.address;
  return hostname === own || hostname.endsWith(`.${own}`) ? undefined : href;
}

/** Sends a client there; nobody keeps where, as it ends soon. */
export const redirected = (status: 302 | 307, location: string, headers: Record<string, string>): Answer =>
  new Answer({ status, headers: { ...headers, location, 'cache-control': 'no-store', 'content-length': '0' } });

/** What an operation declares that answers with a numbered file. */
export const answersWithFile = {
  produces: ['application/octet-stream'],
  also: { 206: 'The range of bytes that was asked for.', 304: 'The client has it already.' },
  headers: ['etag', 'content-range', 'content-disposition'],
  refuses: ['range-invalid', 'too-many-requests'],
} as const;

/** A file that was given a number once; its bytes are the same for ever. */
interface NumberedFile {
  /** The last part of its address, under which a browser saves it. */
  name: string;
  sha3_384: string;
  size: number;
  /** Whether caches that others ask may not keep it. */
  private: boolean;
}

/**
 * Answers with the whole file, the range that was asked for, or nothing where the client has it; refused while as many
 * downloads are under way as there may be. `mayLeave` says whether the client may be sent to the server of the files.
 */
export async function answerWithFile(
  { name, sha3_384, size, private: only }: NumberedFile,
  { request, response, blobs, downloads, config }: Downloading,
  { mayLeave = false }: { mayLeave?: boolean } = {},
): Promise<Answer> {
  const etag = `"${sha3_384}"`;
  const kept = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': `${only ? 'private' : 'public'}, max-age=31536000, immutable`,
  };
  if (hasAlready(request, etag)) return new Answer({ status: 304, headers: kept });
  const headers = {
    ...kept,
    'content-type': 'application/octet-stream',
    ...attachment(name),
  };
  if (request.method === 'HEAD') {
    if ((await blobs.stat(sha3_384))?.size !== size) throw outOfService();
    return new Answer({ headers: { ...headers, 'content-length': String(size) } });
  }
  const range = stillHolds(request, etag) ? rangeOf(request.headers.range, size) : undefined;
  const location = mayLeave ? await elsewhere({ name, sha3_384, size }, { blobs, config }, outOfService) : undefined;
  if (location !== undefined) return redirected(302, location, { etag });
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const ended = await downloads.begin(end - start + 1);
  const { socket } = request;
  const before = socket.bytesWritten;
  response.once('close', () => {
    ended(socket.bytesWritten - before);
  });
  // A client that went away meanwhile is told of no more.
  if (response.closed) ended(0);
  return answerWith({ sha3_384, size, range, headers }, blobs, outOfService);
}

/** A request for a file, and what it is answered with. */
interface Downloading {
  request: IncomingMessage;
  response: ServerResponse;
  blobs: Blobs;
  downloads: Downloads;
  config: Config;
}

/** It was damaged, and taken away until somebody brings it again: no answer to a device that would ask again and again. */
const outOfService = (): Refusal =>
  new Refusal('resource-not-found', 'The file was damaged and is out of service until its publisher sends it again.');
