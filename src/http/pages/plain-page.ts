// The plain frame of a stand-alone page: the pages of the identity provider, and the first page.
import { OperationResponse } from '../operation.ts';
import { html, type Html } from './html.ts';
import { pageHeaders } from './page-headers.ts';
import { styleSheet } from './style-sheet.ts';

export interface PageOptions {
  status?: number;
  /** The store's base URL. */
  baseUrl: string;
  /** An additional origin that a submitted form may redirect to. */
  leadsTo?: string | undefined;
  headers?: Record<string, string>;
}

/** A page as a response. */
export function page(title: string, content: Html, options: PageOptions): OperationResponse {
  const { status = 200, baseUrl, leadsTo, headers } = options;
  return new OperationResponse({
    status,
    headers: { ...pageHeaders({ leadsTo }), ...headers },
    body: framed(title, new URL(baseUrl).host, content).toString(),
  });
}

export const plainStyleSheet = (): OperationResponse =>
  new OperationResponse({
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
    body: styleSheet('src/http/pages/plain.css'),
  });

const framed = (title: string, store: string, content: Html): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} – ${store}</title>
        <link rel="icon" type="image/svg+xml" href="/favicon.ico" />
        <link rel="stylesheet" href="/identity/style.css" />
      </head>
      <body>
        <header>
          <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
            <rect x="4" y="3" width="24" height="26" rx="4" />
            <path d="M4 12h24M4 21h24" />
            <path class="goods" d="M9 8.5h3M9 17.5h8M9 25.5h5" />
          </svg>
          <p>${store}</p>
        </header>
        <main>${content}</main>
        <footer>
          <p>This page is part of the package store of this site. It loads nothing from other addresses.</p>
        </footer>
      </body>
    </html>`;
