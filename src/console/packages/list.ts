// The packages: those of whoever looks, and all of the store for those who administer it.
import { account, actsAsPublisher } from '#api/access.ts';
import { html, nothing, type Content, type Html } from '#api/pages/html.ts';
import type { ConsolePackagesQuery } from '#api/wire.ts';
import { isNamespace, namespaces } from '#domain/namespace.ts';
import { reachesPackage, type Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { writeCursor } from '#operations/cursor.ts';
import { placeOf } from '#operations/page.ts';
import type { FoundPackage } from '#records/package-search.ts';
import { choice, field, searchOf } from '../parts/form.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { count, size } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';

const here = '/console/packages';

export const consolePackages = screen({
  name: 'console_packages',
  path: here,
  summary: 'Show the packages of whoever looks, or those of the whole store to its administrators, by name or title.',
  access: account('packages', 'account-view-packages'),
  query: 'ConsolePackagesQuery',
  refuses: ['forbidden'],

  async show({ query, principal, records }) {
    const seesAll = actsAsPublisher(principal, 'package-view');
    const wanted = wantedBy(query, principal, seesAll);
    const [namespace, name] = placeOf({ ...(query.cursor && { cursor: query.cursor }) }, ['', ''] as const);
    const { packages, next } = await records.packageSearch.page(wanted, { namespace, name }, pageSize);
    const shown = packages.filter((one) => reachesPackage(principal, one));
    const isSearch = wanted.text !== '' || wanted.namespace !== null;
    const isAll = wanted.of === null;
    return {
      title: 'Packages',
      lead: isAll ? 'All packages of this store.' : 'The packages that you publish or collaborate on.',
      content: html`${search(query, seesAll)}
        <div id="packages">
          ${table({ caption: 'Packages', columns, rows: shown, empty: emptyOf({ isSearch, isAll, isMore: next !== undefined }) })}
          ${nextPage(next && addressBehind(query, next))}
        </div>`,
    };
  },
});

function wantedBy(query: ConsolePackagesQuery, principal: Principal, seesAll: boolean) {
  const { q = '', namespace = '', of = '' } = query;
  if (namespace !== '' && !isNamespace(namespace)) {
    throw new Refusal('api-error', `There is no namespace '${namespace}'.`);
  }
  if (of === 'all' && !seesAll) {
    throw new Refusal('permission-required', 'Only a store administrator sees the packages of everybody.');
  }
  return {
    of: seesAll && of !== 'own' ? null : principal.accountId,
    namespace: namespace === '' ? null : namespace,
    text: q.trim(),
  };
}

const search = ({ q, namespace, of }: ConsolePackagesQuery, seesAll: boolean): Html =>
  searchOf(
    here,
    'packages',
    html`${field({ name: 'q', label: 'Name or title', type: 'search', value: q, maxLength: 100 })}
      ${choice({ name: 'namespace', label: 'Namespace', value: namespace }, [['', 'All'], ...namespaces.map((one) => [one, one] as const)])}
      ${
        seesAll
          ? choice({ name: 'of', label: 'Whose', value: of }, [
              ['all', 'Everybody’s'],
              ['own', 'My own'],
            ])
          : nothing
      } <button class="second">Search</button>`,
  );

const columns: readonly Column<FoundPackage>[] = [
  {
    heading: 'Name',
    cell: (one) =>
      html`<a href="${addressOf(one)}">${one.name}</a
        >${one.title === null || one.title === one.name ? nothing : html`<br /><span class="hint">${one.title}</span>`}`,
  },
  {
    heading: 'Kind',
    cell: ({ namespace, type, private: hidden }) =>
      `${namespace === type ? namespace : `${namespace}, ${type}`}${hidden === 1 ? ', private' : ''}`,
  },
  { heading: 'Publisher', cell: ({ username }) => username },
  { heading: 'In stable', cell: ({ stable }) => stableOf(stable) },
  { heading: 'Waiting', number: true, cell: ({ waiting }) => count(waiting) },
  { heading: 'Size', number: true, cell: ({ bytes }) => size(bytes) },
];

/** So many versions are named of what may be another one for each base. */
const mostVersions = 3;

const stableOf = (versions: readonly string[]): string =>
  versions.length === 0
    ? 'Nothing'
    : `${versions.slice(0, mostVersions).join(', ')}${versions.length > mostVersions ? ' and others' : ''}`;

function emptyOf({ isSearch, isAll, isMore }: Record<'isSearch' | 'isAll' | 'isMore', boolean>): Content {
  if (isMore) return 'None so far; the next page looks on.';
  if (isSearch) return 'No package has that in its name or its title. Look for a shorter piece of it.';
  const by = isAll
    ? html`A publisher registers a name with <code>snapcraft register NAME</code> or
        <code>charmcraft register NAME</code>, and on the host of the store it is
        <code>larder package register snap/NAME --account ID</code>`
    : html`Register a name first, with <code>snapcraft register NAME</code> or <code>charmcraft register NAME</code>`;
  return html`There is no package yet. ${by}.`;
}

function addressBehind(query: ConsolePackagesQuery, next: { namespace: string; name: string }): string {
  const { q = '', namespace = '', of = '' } = query;
  const asked = Object.entries({ q, namespace, of }).filter(([, value]) => value !== '');
  const cursor = writeCursor([next.namespace, next.name]);
  return `${here}?${new URLSearchParams([...asked, ['cursor', cursor]]).toString()}`;
}
