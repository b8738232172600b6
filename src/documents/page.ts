// The frame and menu of a documentation page, and the parts that all pages share.
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { DocumentPage } from '#http/services.ts';
import { guides } from './guides.ts';

const menu: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['Guides', Object.entries(guides)],
  [
    'Reference',
    [
      ['operations', 'Operations'],
      ['shapes', 'Shapes'],
      ['permissions', 'Permissions'],
      ['errors', 'Errors'],
      ['audit', 'Audit log'],
    ],
  ],
];

interface DocumentPageContent {
  title: string;
  /** The release. */
  version: string;
  /** The name of the page. The name, or its part before a dash, equals the name of a menu entry. */
  name: string;
  content: Html;
  /** The search query. */
  query?: string;
}

/** A page inside its frame. */
export function page({ title, version, name, content, query = '' }: DocumentPageContent): DocumentPage {
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · larder</title>
        <link rel="icon" type="image/svg+xml" href="/favicon.ico" />
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <nav class="menu" aria-label="Documents">
          <a class="home" href="/docs/">
            <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
              <rect x="4" y="3" width="24" height="26" rx="4" />
              <path d="M4 12h24M4 21h24" />
            </svg>
            larder
          </a>
          <form role="search" action="/docs/search#content">
            <label for="q">Search the documents</label>
            <input id="q" name="q" type="search" value="${query}" maxlength="100" autocomplete="off" required />
            <button type="submit" aria-label="Search">
              <svg viewBox="0 0 18 18" aria-hidden="true" focusable="false">
                <circle cx="7.5" cy="7.5" r="5.5" />
                <path d="M12 12l4.5 4.5" />
              </svg>
            </button>
          </form>
          ${menuOf(name)}
          <p class="version"><a href="/">Back to the store</a></p>
          <p class="version">Release ${version}</p>
        </nav>
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  return { type: 'text/html; charset=utf-8', text: text.toString() };
}

function menuOf(current: string): Html[] {
  const [chapter = ''] = current in guides ? [current] : current.split('-');
  const link = ([name, text]: readonly [string, string]): Html => {
    const isCurrent = name === chapter && html`aria-current="page"`;
    return html`<li><a href="/docs/${name}" ${isCurrent}>${text}</a></li>`;
  };
  return menu.map(
    ([heading, entries]) =>
      html`<h2>${heading}</h2>
        <ul>
          ${entries.map(link)}
        </ul>`,
  );
}

export const code = (text: string): Html => html`<code>${text}</code>`;

/** Lines of input or output; the element can be focused so that the keyboard can scroll it sideways. */
export const lines = (content: HtmlContent): Html => html`<pre tabindex="0"><code>${content}</code></pre>`;
