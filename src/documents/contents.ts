// Splits a page into parts (headings, and rows with an address), and adds a table of contents to a long page.
import { html, markup, type Html } from '#http/pages/html.ts';
import { textOf } from '#http/pages/visible-text.ts';

/** A page with at least this many headings gets a table of contents. */
const fewest = 4;

/** A part of a page with an address: the text below a heading, or in a row. */
export interface DocumentPart {
  /** Empty for the text before the first heading. */
  id: string;
  heading: string;
  /** The heading above a row; empty for a part that is not a row. */
  under: string;
  text: string;
}

/** All parts of a page, in order. */
export function partsOf(content: Html): DocumentPart[] {
  let under = '';
  return content
    .toString()
    .replace(/<thead\b[^]*?<\/thead>/g, '')
    .split(/(?=<(?:h2|tr) id=")/)
    .map((piece) => {
      const [, kind, id] = /^<(h2|tr) id="([\w-]+)"/.exec(piece) ?? [];
      const words = id === undefined ? null : /<(h2|th)\b[^>]*>([^]*?)<\/\1>/.exec(piece);
      if (id === undefined || words === null) return { id: '', heading: '', under: '', text: textOf(piece) };
      const heading = textOf(words[2]!);
      if (kind === 'h2') under = heading;
      const text = textOf(piece.slice(words.index + words[0].length));
      return { id, heading, under: kind === 'tr' ? under : '', text };
    });
}

/** Inserts the table of contents before the first heading. */
export function withContents(content: Html): Html {
  const text = content.toString();
  const headings = [...text.matchAll(/<h2 id="([\w-]+)"[^>]*>([^]*?)<\/h2>/g)].map(([, id = '', words = '']) => ({
    id,
    words: textOf(words),
  }));
  if (headings.length < fewest) return content;
  const width = widthOf(headings.map(({ words }) => words));
  const first = text.search(/<(?:h2|article|section)[ >]/);
  return html`${markup(text.slice(0, first))}
    <nav class="contents ${width}" aria-label="On this page">
      <ul>
        ${headings.map(({ id, words }) => html`<li><a href="#${id}">${words}</a></li> `)}
      </ul>
    </nav>
    ${markup(text.slice(first))}`;
}

/** The layout of the table of contents: names one after another, short headings in two columns on a phone. */
function widthOf(headings: readonly string[]): 'names' | 'short' | 'long' {
  if (headings.every((words) => !words.includes(' '))) return 'names';
  return headings.every((words) => words.length <= 24) ? 'short' : 'long';
}
