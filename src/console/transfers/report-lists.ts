// Shows the lists and sentences of a report on a transfer or a request.
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferReport } from '#http/transfer-desk.ts';
import { count, withValues } from '../parts/values.ts';

/** The maximum of entries shown per list; the command shows all. */
const maxListed = 100;

export const renderReport = ({ sentences, lists }: TransferReport): Html =>
  html`${lists
      .filter(({ items }) => items.length > 0)
      .map(
        ({ heading, items }) =>
          html`<h2>${heading.replace(/:$/, '')}</h2>
            <ul>
              ${items.slice(0, maxListed).map((item) => html`<li>${withValues(item)}</li>`)}
              ${items.length > maxListed ? html`<li>and ${count(items.length - maxListed)} more</li>` : nothing}
            </ul>`,
      )}
    <h2>Statement</h2>
    ${sentences.map((sentence) => html`<p>${withValues(sentence)}</p>`)}`;
