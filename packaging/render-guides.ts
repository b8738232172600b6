// Renders the guides in docs/guides/*.md as the HTML that the store serves at /docs/. The executable embeds the HTML and
// has no Markdown library. Everything that a guide may hold is listed here; the rest stops the generator or is escaped.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { Marked, type Tokens } from 'marked';

import { slug } from '#documents/guides.ts';
import { keptAddresses } from './kept-addresses.ts';
import { writeGenerated } from './write-generated.ts';

/** The index for readers on a code host; the store has its own. */
const indexName = 'README';

interface Heading {
  /** Its address on a code host, which `#…` in a link names. */
  hostAddress: string;
  /** Its address in the store. */
  storeAddress: string;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The address that code hosts give a heading: lower case, without punctuation, a dash for each blank. */
const toHostAddress = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const toStoreAddress = (guide: string, text: string): string => keptAddresses[guide]?.[text] ?? slug(text);

/** The headings of the second level in a guide. */
function headingsOf(guide: string, markdown: string): Heading[] {
  const headings = new Marked().lexer(markdown).filter((token): token is Tokens.Heading => token.type === 'heading');
  return headings
    .filter(({ depth }) => depth === 2)
    .map(({ text }) => ({ hostAddress: toHostAddress(text), storeAddress: toStoreAddress(guide, text) }));
}

/** The address in the store for a link of a guide: `NAME.md`, `NAME.md#HEADING` or `#HEADING`. */
function toStoreLink(from: string, href: string, headings: ReadonlyMap<string, readonly Heading[]>): string {
  const [, file, fragment] = /^(?=.)(?:([a-z-]+)\.md)?(?:#(.+))?$/.exec(href) ?? [];
  const targets = file === undefined && fragment === undefined ? undefined : headings.get(file ?? from);
  const heading = targets?.find(({ hostAddress }) => hostAddress === fragment);
  if (targets === undefined || (fragment !== undefined && heading === undefined)) {
    throw new Error(`${from}.md links to '${href}', which no guide has. Link to NAME.md or NAME.md#HEADING.`);
  }
  return (file === undefined ? '' : `/docs/${file}`) + (heading === undefined ? '' : `#${heading.storeAddress}`);
}

/** Pages of the store that a guide names in code style become links there; on a code host they are text. */
const storePage = /^\/(?:docs\/[a-z-]+|metrics)$/;

/** Renders each guide (name → Markdown) as the content of its page, below the page's title. */
export function renderGuides(guides: ReadonlyMap<string, string>): Map<string, string> {
  const headings = new Map([...guides].map(([name, text]) => [name, headingsOf(name, text)]));
  return new Map([...guides].map(([name, text]) => [name, renderGuide(name, text, headings)]));
}

function renderGuide(name: string, markdown: string, headings: ReadonlyMap<string, readonly Heading[]>): string {
  let isLead = true;
  const marked = new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        // The page writes its title.
        if (depth === 1) return '';
        const content = this.parser.parseInline(tokens);
        return depth === 2 ? `<h2 id="${toStoreAddress(name, text)}">${content}</h2>\n` : `<h3>${content}</h3>\n`;
      },
      paragraph({ tokens }) {
        const content = this.parser.parseInline(tokens);
        const start = isLead ? '<p class="lead">' : '<p>';
        isLead = false;
        return `${start}${content}</p>\n`;
      },
      // Makes wide content scrollable with the keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      codespan({ text }) {
        const code = `<code>${escapeHtml(text)}</code>`;
        return storePage.test(text) ? `<a href="${text}">${code}</a>` : code;
      },
      link({ href, tokens }) {
        return `<a href="${toStoreLink(name, href, headings)}">${this.parser.parseInline(tokens)}</a>`;
      },
      html: ({ text }) => escapeHtml(text),
      image: ({ raw }) => escapeHtml(raw),
    },
  });
  return marked.parse(markdown, { async: false });
}

/** Brings the HTML in `target` up to date with the Markdown in `folder`, and removes that of guides that are gone. */
export function writeGuides(folder: string, target: string): void {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== `${indexName}.md`)
    .map((file) => file.slice(0, -'.md'.length))
    .sort();
  const guides = new Map(names.map((name) => [name, readFileSync(join(folder, `${name}.md`), 'utf8')]));
  for (const [name, html] of renderGuides(guides)) writeGenerated(join(target, `${name}.html`), html);
  for (const file of readdirSync(target)) {
    if (file.endsWith('.html') && !names.includes(file.slice(0, -'.html'.length))) rmSync(join(target, file));
  }
}
