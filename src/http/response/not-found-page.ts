// The page that a browser gets for an unknown address, in place of JSON.
import type { IncomingMessage } from 'node:http';
import { html } from '../pages/html.ts';
import { page } from '../pages/plain-page.ts';
import type { OutgoingResponse } from './outgoing-response.ts';

/** Whether the client prefers HTML, as browsers do; other clients get JSON. */
export function prefersHtml({
  method,
  headers: { accept = '' },
}: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const [first = ''] = accept.split(/[,;]/, 1);
  return (method === 'GET' || method === 'HEAD') && first.trim().toLowerCase() === 'text/html';
}

/** The page of a 404. */
export function notFoundPage(path: string, baseUrl: string): OutgoingResponse {
  const { headers, body } = page(
    'Page not found',
    html`<p>There is nothing at <code>${path.slice(0, 200)}</code>.</p>
      <p><a href="/console">The console</a> · <a href="/docs/">The documents</a></p>`,
    { status: 404, baseUrl },
  );
  return { status: 404, headers, body };
}
