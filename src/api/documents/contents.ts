// The parts of a page: what each heading and each row with an address of its own stands for, and the list of them on a long page.
import { html, markup, type Html } from '../pages/html.ts';
import { textOf } from '../pages/text.ts';

/** A page has a list of its headings from so many on. */
const fewest = 4;

/** A piece of a page: what stands behind a heading, or in a row, that has an address. */
export interface Part {
  /** Empty for what stands before the first one. */
  id: string;
  heading: string;
  /** The heading over a row; empty for one that is none. */
  under: string;
  text: string;
}

/** Every piece of a page, in their order. */
export function partsOf(content: Html): Part[] {
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

/** The page with the list of its headings before the first of them. */
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

/** How a list of them is laid out: names one after another, short ones in two columns on a phone. */
function widthOf(headings: readonly string[]): 'names' | 'short' | 'long' {
  if (headings.every((words) => !words.includes(' '))) return 'names';
  return headings.every((words) => words.length <= 24) ? 'short' : 'long';
}
