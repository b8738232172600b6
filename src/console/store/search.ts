// The search of the header: packages, accounts and sections of the documents that contain a text.
import { account, actsAsPublisher } from '#access/access-rules.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { addressOf } from '../packages/address.ts';
import { accountAddress } from '../accounts/address.ts';
import { withQuery } from '../parts/address.ts';
import { packageIcon } from '../parts/icon.ts';
import { searchAddress } from '../parts/search-form.ts';
import { emptyState } from '../parts/table.ts';
import { screen } from '../screen.ts';

/** The maximum number of packages, and of accounts. */
const maxShown = 10;

export const consoleSearch = screen({
  name: 'console_search',
  path: searchAddress,
  summary: 'Search packages, accounts and the documents.',
  access: account('packages', 'account-view-packages'),
  query: 'ConsoleSearchQuery',
  refuses: ['forbidden'],

  async show({ query, principal, records, documents, config }) {
    const text = (query.text ?? '').trim();
    if (text === '')
      return {
        title: 'Search',
        content: emptyState('Type a part of a name, or some words, in the field of the menu.'),
      };
    const of = actsAsPublisher(principal, 'package-view') ? null : principal.accountId;
    const packagesPage = await records.packageSearch.page(
      { of, namespace: null, text },
      { namespace: '', name: '' },
      maxShown,
    );
    const packages = packagesPage.packages.filter((candidate) => reachesPackage(principal, candidate));
    const people = principal.storeAdministrator ? await records.people.page(text, '', maxShown) : [];
    return {
      title: `Search: ${text}`,
      content: html`<h2>Packages</h2>
        ${
          packages.length === 0
            ? html`<p>No package has this text in its name or title.</p>`
            : listOf(
                packages.map(
                  (row) => html`${packageIcon(row)}<a href="${addressOf(row)}">${row.namespace}/${row.name}</a>`,
                ),
              )
        }
        ${packagesPage.next === undefined ? nothing : html`<p><a href="${withQuery('/console/packages', { q: text })}">All packages with this text</a></p>`}
        ${
          people.length === 0
            ? nothing
            : html`<h2>Accounts</h2>
                ${listOf(people.map(({ id, username }) => html`<a href="${accountAddress(id)}">${username}</a>`))}`
        }
        ${
          config.http.documents
            ? html`<h2>Documents</h2>
                ${documents.searchResults(text)}`
            : nothing
        }`,
    };
  },
});

const listOf = (rows: readonly Html[]): Html =>
  html`<ul class="plain">
    ${rows.map((row) => html`<li class="titled">${row}</li>`)}
  </ul>`;
