// The list of packages: the caller's own, and for store administrators all of the store.
import { account, actsAsPublisher } from '#access/access-rules.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { ConsolePackagesQuery } from '#contract/wire.ts';
import { isNamespace, namespaces } from '#domain/packages/namespace.ts';
import { reachesPackage, type Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { writeCursor } from '#operations/cursor.ts';
import { placeOf } from '#operations/page.ts';
import type { PackageListing, PackageFilter } from '#records/packages/package-search.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, searchOf } from '../parts/form.ts';
import { packageIcon } from '../parts/icon.ts';
import { sortLimitHint, sortedPage } from '../parts/sorting.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { count, size } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';

const listAddress = '/console/packages';

export const consolePackages = screen({
  name: 'console_packages',
  path: listAddress,
  summary: 'List your packages, by name or title. Administrators see all packages of the store.',
  access: account('packages', 'account-view-packages'),
  query: 'ConsolePackagesQuery',
  refuses: ['forbidden'],

  async show({ query, principal, records }) {
    const seesAll = actsAsPublisher(principal, 'package-view');
    const filter = wantedBy(query, principal, seesAll);
    const { packages, next, isCut } = await pageOf(records, query, filter);
    const rows = packages.filter((candidate) => reachesPackage(principal, candidate));
    const isSearch = filter.text !== '' || filter.namespace !== null;
    const isAll = filter.of === null;
    return {
      title: 'Packages',
      lead: isAll ? 'All packages of this store.' : 'The packages that you publish or collaborate on.',
      content: html`${search(query, seesAll)}
        <div id="packages">
          ${table({
            caption: 'Packages',
            columns,
            rows,
            sorting: { order: orderOf(query), address: (sort) => addressOfList({ ...query, sort, cursor: '' }) },
            empty: emptyOf({ isSearch, isAll, isMore: next !== undefined }),
          })}
          ${sortLimitHint(isCut, 'the first 20\u2009000 by kind and name')}
          ${nextPage(next && addressOfList({ ...query, cursor: next }))}
        </div>`,
    };
  },
});

/** By kind and name unless the query has another order. */
const orderOf = ({ sort = '' }: ConsolePackagesQuery) => (sort === '' ? 'kind' : sort);

async function pageOf(
  { packageSearch }: Pick<HandlerRecords, 'packageSearch'>,
  query: ConsolePackagesQuery,
  filter: PackageFilter,
): Promise<{ packages: PackageListing[]; next: string | null | undefined; isCut: boolean }> {
  const [order, at] = [orderOf(query), { ...(query.cursor && { cursor: query.cursor }) }];
  if (order === 'kind') {
    const [namespace, name] = placeOf(at, ['', ''] as const);
    const { packages, next } = await packageSearch.page(filter, { namespace, name }, pageSize);
    return { packages, next: next && writeCursor([next.namespace, next.name]), isCut: false };
  }
  const { entries, next } = await sortedPage(at, pageSize, (range) => packageSearch.sorted(filter, order, range));
  return { packages: entries, next, isCut: await packageSearch.sortsNotAll(filter) };
}

function wantedBy(query: ConsolePackagesQuery, principal: Principal, seesAll: boolean) {
  const { q = '', namespace = '', of = '' } = query;
  if (namespace !== '' && !isNamespace(namespace)) {
    throw new Refusal('api-error', `There is no namespace '${namespace}'.`);
  }
  if (of === 'all' && !seesAll) {
    throw new Refusal('permission-required', 'Only a store administrator can list all packages of the store.');
  }
  return {
    of: seesAll && of !== 'own' ? null : principal.accountId,
    namespace: namespace === '' ? null : namespace,
    text: q.trim(),
  };
}

const search = ({ q, namespace, of, sort }: ConsolePackagesQuery, seesAll: boolean): Html =>
  searchOf(
    listAddress,
    'packages',
    html`${field({ name: 'q', label: 'Name or title', type: 'search', value: q, maxLength: 100 })}
      ${choice({ name: 'namespace', label: 'Namespace', value: namespace }, [['', 'All'], ...namespaces.map((name) => [name, name] as const)])}
      ${
        seesAll
          ? choice({ name: 'of', label: 'Whose', value: of }, [
              ['all', 'Everybody’s'],
              ['own', 'My own'],
            ])
          : nothing
      } <button class="second">Search</button>`,
    sort,
  );

const columns: readonly Column<PackageListing>[] = [
  {
    heading: 'Name',
    sort: { key: 'name' },
    cell: (row) =>
      html`<span class="titled"
        >${packageIcon(row)}<span
          ><a href="${addressOf(row)}"><bdi>${row.name}</bdi></a
          >${row.title === null || row.title === row.name ? nothing : html`<br /><span class="hint"><bdi>${row.title}</bdi></span>`}</span
        ></span
      >`,
  },
  {
    heading: 'Kind',
    sort: { key: 'kind' },
    cell: ({ namespace, type, private: hidden }) =>
      `${namespace === type ? namespace : `${namespace}, ${type}`}${hidden === 1 ? ', private' : ''}`,
  },
  { heading: 'Publisher', sort: { key: 'publisher' }, cell: ({ username }) => username },
  { heading: 'In stable', cell: ({ stable }) => stableOf(stable) },
  {
    heading: 'Waiting',
    number: true,
    sort: { key: 'waiting', largestFirst: true },
    cell: ({ waiting }) => count(waiting),
  },
  { heading: 'Size', number: true, sort: { key: 'size', largestFirst: true }, cell: ({ bytes }) => size(bytes) },
];

/** The maximum number of versions to show for a package. Each base can have its own version. */
const maxVersions = 3;

const stableOf = (versions: readonly string[]): string =>
  versions.length === 0
    ? 'Nothing'
    : `${versions.slice(0, maxVersions).join(', ')}${versions.length > maxVersions ? ' and others' : ''}`;

function emptyOf({ isSearch, isAll, isMore }: Record<'isSearch' | 'isAll' | 'isMore', boolean>): HtmlContent {
  if (isMore) return 'No match on this page. The search continues on the next page.';
  if (isSearch) return 'No name or title contains this text. Search for a shorter part of it.';
  const nextStep = isAll
    ? html`A publisher registers a name with <code>snapcraft register NAME</code> or
        <code>charmcraft register NAME</code>. On the host of the store, run
        <code>larder package register snap/NAME --account ID</code>`
    : html`Register a name first, with <code>snapcraft register NAME</code> or <code>charmcraft register NAME</code>`;
  return html`There is no package yet. ${nextStep}.`;
}

const addressOfList = ({ q, namespace, of, sort, cursor }: Readonly<Record<string, string | undefined>>): string =>
  withQuery(listAddress, { q, namespace, of, sort, cursor });
