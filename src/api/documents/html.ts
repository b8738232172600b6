// How a page of the documents is written: its frame, its menu, and what every page writes alike.
import type { Config } from '#src/config.ts';

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
export function html(title: string, version: string, current: string, content: string): Page {
  const [chapter = ''] = current in guides ? [current] : current.split('-');
  const link = ([name, text]: readonly [string, string]): string =>
    `<li><a href="/docs/${name}"${name === chapter ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`;
  const links = menu.map(([heading, entries]) => `<h2>${heading}</h2><ul>${entries.map(link).join('')}</ul>`);
  return {
    type: 'text/html; charset=utf-8',
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · larder</title>
<link rel="icon" type="image/svg+xml" href="/favicon.ico">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Documents"><a class="home" href="/docs/">larder</a>${links.join('')}<p class="version">Release ${escape(version)}</p></nav>
<main>
<h1>${escape(title)}</h1>
${content.replaceAll('<pre>', '<pre tabindex="0">')}
</main>
</body>
</html>
`,
  };
}

export const code = (text: string): string => `<code>${escape(text)}</code>`;

export const slug = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
