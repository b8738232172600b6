// The page with search results.
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { SearchResults, TextPiece, SearchHit } from './search.ts';

/** The search results for a query; an empty query shows a hint instead. */
export function renderSearchResults(query: string, { total, places }: SearchResults): Html {
  if (query === '') return hint;
  if (total === 0) {
    return html`<p class="lead" role="status">No section of the documents contains all of these words.</p>
      ${hint}`;
  }
  return html`<p class="lead" role="status">${countOf(total, places.length)}</p>
    <ol class="found">
      ${places.map(entry)}
    </ol>`;
}

const hint: Html = html`<p>
  Search for the name of an operation, a permission, an error or an act of the audit log, or for other words. A section
  matches if it contains all words. Parts of words match too.
</p>`;

function countOf(total: number, shown: number): string {
  if (total === 1) return '1 section of the documents matches.';
  return shown < total
    ? `The best ${String(shown)} of ${String(total)} matching sections of the documents.`
    : `${String(total)} sections of the documents match.`;
}

const entry = ({ address, where, heading, excerpt }: SearchHit): Html =>
  html`<li>
    <h2><a href="${address}">${heading.map(marked)}</a></h2>
    ${where !== '' && html`<p class="where">${where}</p>`} ${excerpt.length > 0 && html`<p>${excerpt.map(marked)}</p>`}
  </li> `;

const marked = ({ text, isFound }: TextPiece): HtmlContent => (isFound ? html`<mark>${text}</mark>` : text);
