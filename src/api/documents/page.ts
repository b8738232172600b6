// How a page of the documents is written: its frame, its menu, and what every page writes alike.
import type { Config } from '#src/config.ts';
import { html, type Content, type Html } from '../pages/html.ts';

export interface Page {
  type: string;
  text: string;
}

export interface Documents {
  /** The page at `/docs/<name>`; the empty name is the first one. */
  page(name: string): Page | undefined;
  /** The OpenAPI document of what is there, as the store is configured; as bytes, because writing so much text costs 4 ms. */
  openapi(config: Config): Uint8Array;
}

export const guides = {
  publisher: 'Publishing packages',
  administrator: 'Looking after the store',
  console: 'In a browser',
  devices: 'Looking after devices',
  juju: 'Charms for juju',
  transfers: 'Across the gap',
  'device-gateway': 'Device gateways',
  approvals: 'Approvals by several people',
  recovery: 'When something went wrong',
} as const;

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

/** A page as it stands in its frame; `current` is its name, or the beginning of it up to a dash. */
export function page(title: string, version: string, current: string, content: Html): Page {
  const [chapter = ''] = current in guides ? [current] : current.split('-');
  const link = ([name, text]: readonly [string, string]): Html => {
    const isCurrent = name === chapter && html` aria-current="page"`;
    return html`<li><a href="/docs/${name}" ${isCurrent}>${text}</a></li>`;
  };
  const links = menu.map(
    ([heading, entries]) =>
      html`<h2>${heading}</h2>
        <ul>
          ${entries.map(link)}
        </ul>`,
  );
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
        <nav aria-label="Documents">
          <a class="home" href="/docs/">larder</a>
          ${links}
          <p class="version">Release ${version}</p>
        </nav>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  return { type: 'text/html; charset=utf-8', text: text.toString() };
}

export const code = (text: string): Html => html`<code>${text}</code>`;

/** Lines as they are typed, or as they come; what scrolls sideways can be reached with the keyboard. */
export const lines = (content: Content): Html => html`<pre tabindex="0"><code>${content}</code></pre>`;

export const slug = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');
