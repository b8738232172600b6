// A page of the console as a response: its head, its security policy, and the files that it may load.
import { OperationResponse } from '#http/operation.ts';
import { html, type Html } from '#http/pages/html.ts';
import { pageHeaders } from '#http/pages/page-headers.ts';
import { addressOfAsset } from './asset-files.ts';

interface ConsolePageContent {
  title: string;
  /** The host name of the store. */
  store: string;
  body: Html;
  status?: number | undefined;
  headers?: Record<string, string>;
}

/**
 * The settings of htmx: no feature that needs `eval`, no inline styles, no copy of pages in the browser's storage, and refusals are shown
 * like other responses.
 */
const htmx = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
  responseHandling: [
    { code: '204', swap: false },
    { code: '...', swap: true },
  ],
});

export const pageOf = ({ title, store, body, status = 200, headers = {} }: ConsolePageContent): OperationResponse =>
  new OperationResponse({
    status,
    headers: { ...pageHeaders({ scripts: true }), ...headers },
    body: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="robots" content="noindex" />
          <meta name="htmx-config" content="${htmx}" />
          <title>${title} – ${store}</title>
          <link rel="icon" type="image/svg+xml" href="/favicon.ico" />
          <link rel="stylesheet" href="${addressOfAsset('style.css')}" />
          <script src="${addressOfAsset('htmx.js')}" defer></script>
          <script src="${addressOfAsset('console.js')}" defer></script>
        </head>
        ${body}
      </html> `.toString(),
  });
