// The page that a browser gets in place of JSON for an unknown address, and for an error of the console.
import type { IncomingMessage } from 'node:http';
import { html, type HtmlContent } from '../pages/html.ts';
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

/** Whether an address is one of the console, which only browsers open. */
export const isConsolePage = (path: string): boolean =>
  path.startsWith('/console/') && !path.startsWith('/console/assets/');

/** The page of a 404. */
export const notFoundPage = (path: string, baseUrl: string): OutgoingResponse =>
  errorPage({ status: 404, headers: {} }, html`There is nothing at <code>${path.slice(0, 200)}</code>.`, baseUrl);

/** The page of an error, with the status and the headers of the response that tools get. */
export function errorPage(
  { status, headers }: Pick<OutgoingResponse, 'status' | 'headers'>,
  message: HtmlContent,
  baseUrl: string,
): OutgoingResponse {
  const title = status === 404 ? 'Page not found' : 'The request failed';
  const { headers: pageHeaders, body } = page(
    title,
    html`<h1>${title}</h1>
      <p>${message}</p>
      <p><a href="/console">The console</a> · <a href="/docs/">The documents</a></p>`,
    { status, baseUrl },
  );
  return { status, headers: { ...headers, ...pageHeaders }, body };
}
