// Responses to malformed requests, and to requests that no honest client sends; on the bare connection if necessary.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { Refusal } from '#domain/refusal.ts';
import { json } from './response/outgoing-response.ts';

/**
 * Rewrites a target in absolute form to a path, and uses its host in place of any Host header (RFC 9112, 3.2.2). Any other target stays
 * unchanged.
 */
export function readTarget(request: IncomingMessage): void {
  const { url = '' } = request;
  const match = /^https?:\/\/((?:[a-z0-9.-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?)(?=[/?]|$)/i.exec(url);
  if (match === null) return;
  const rest = url.slice(match[0].length);
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = match[1]!;
}

/** Refuses requests that the HTTP parser accepts although no honest client sends them. */
export function refuseMalformed(request: IncomingMessage): void {
  refuseWrongHost(request);
  refuseTrickyPath(request.url ?? '');
}

/** Refuses a request without a Host header, or with several. */
export function refuseWrongHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw new Refusal('api-error', 'The request has more than one Host header.');
  if (hosts === 0 && httpVersion !== '1.0') throw new Refusal('api-error', 'The request has no Host header.');
}

function refuseTrickyPath(url: string): void {
  if (url.length > 8192) throw new Refusal('api-error', 'The request target is longer than 8192 characters.');
  if (!url.startsWith('/'))
    throw new Refusal(
      'api-error',
      'The request target must be a path, beginning with a slash, or an http or https address.',
    );
  const [path = ''] = url.split('?', 1);
  if (/%2f|%5c|%00|\\|\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) {
    throw new Refusal('api-error', 'The path must not contain encoded slashes, backslashes, empty or dot segments.');
  }
  if (path.includes('%')) {
    try {
      decodeURIComponent(path);
    } catch {
      throw new Refusal('api-error', 'The path is not well-formed.');
    }
  }
}

/** Responds to a request that the parser could not read, if the connection is still writable. */
export function refuseUnreadable(error: Error & { code?: string }, socket: Duplex, everyAnswer: string[]): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const words: [string, string, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'header-too-large', 'The headers are larger than 72 KiB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'api-error', 'The request did not arrive in time.']
        : ['400 Bad Request', 'api-error', 'This is not a well-formed HTTP request.'];
  writeErrorResponse(socket, words, everyAnswer);
}

/** Writes a response directly to the connection, and ends it. */
export function writeErrorResponse(
  socket: Duplex,
  [status, code, message]: readonly [string, string, string],
  everyAnswer: string[],
): void {
  const body = JSON.stringify({ 'error-list': [{ code, message }] });
  const headers = [
    ...everyAnswer,
    ...Object.entries({
      ...json,
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).flat(),
  ];
  const lines = headers.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`));
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
}
