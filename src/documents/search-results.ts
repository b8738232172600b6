// The page with search results.
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { SearchResults, TextPiece, SearchHit } from './search.ts';

/** The search results for a query; an empty query shows a hint instead. */
export function renderSearchResults(query: string, { total, places }: SearchResults): Html {
  if (query === '') return hint;
  if (total === 0) {
    return html`<p class="lead" role="status">No part of the documents has all of these words.</p>
      ${hint}`;
  }
  return html`<p class="lead" role="status">${countOf(total, places.length)}</p>
    <ol class="found">
      ${places.map(entry)}
    </ol>`;
}

const hint: Html = html`<p>
  Look for the name of an operation, a permission, an error or a word of the audit log, or for words of a sentence. All
  of the words must stand in one part of a page; a part of a word will do.
</p>`;

function countOf(total: number, shown: number): string {
  if (total === 1) return 'One part of the documents has this.';
  return shown < total
    ? `The best ${String(shown)} of ${String(total)} parts of the documents that have this.`
    : `${String(total)} parts of the documents have this.`;
}

const entry = ({ address, where, heading, excerpt }: SearchHit): Html =>
  html`<li>
    <h2><a href="${address}">${heading.map(marked)}</a></h2>
    ${where !== '' && html`<p class="where">${where}</p>`} ${excerpt.length > 0 && html`<p>${excerpt.map(marked)}</p>`}
  </li> `;

const marked = ({ text, isFound }: TextPiece): HtmlContent => (isFound ? html`<mark>${text}</mark>` : text);
