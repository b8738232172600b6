// The list of revisions of a package, newest first.
import { onPackage } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { ConsoleRevisionsQuery } from '#contract/wire.ts';
import { numberBefore, pageOf } from '#operations/page.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Revision, RevisionOrder } from '#records/revisions/revisions.ts';
import { withQuery } from '../parts/address.ts';
import { badge } from '../parts/notice.ts';
import { sortedPage } from '../parts/sorting.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { renderPackageHeader } from '../packages/package-header.ts';
import { readActorNames, type ConsoleActorNames } from '../packages/actor-names.ts';

export const consoleRevisions = screen({
  name: 'console_revisions',
  path: '/console/packages/:namespace/:name/revisions',
  summary: 'List the revisions of a package, newest first.',
  access: onPackage('package-view-revisions'),
  query: 'ConsoleRevisionsQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, query, records } = call;
    return {
      title: `Revisions of ${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, 'revisions'),
      content: await renderRevisions(records, subject, query),
    };
  },
});

/** A page of revisions, with links to the next page and to other orders. */
async function renderRevisions(
  records: Pick<HandlerRecords, 'revisions' | 'accounts'>,
  subject: PublishedPackage,
  query: ConsoleRevisionsQuery,
): Promise<Html> {
  const { sort = '' } = query;
  const { entries: rows, next } = await pageOfRevisions(records, subject, sort, query);
  const names = await readActorNames(
    records,
    rows.map(({ createdBy }) => createdBy),
  );
  const listAddress = addressOf(subject, 'revisions');
  return html`${table({
    caption: 'Revisions',
    columns: columnsOf(subject, names),
    rows,
    sorting: { order: sort === '' ? '-revision' : sort, address: (sort) => withQuery(listAddress, { sort }) },
    empty: emptyOf(subject),
  })}
  ${nextPage(next && withQuery(listAddress, { sort, cursor: next }))}`;
}

async function pageOfRevisions(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  { id }: PublishedPackage,
  order: '' | '-revision' | RevisionOrder,
  query: ConsoleRevisionsQuery,
): Promise<{ entries: readonly Revision[]; next: string | null }> {
  if (order === '' || order === '-revision') {
    const rows = await revisions.before(id, numberBefore(query), pageSize + 1);
    return pageOf(rows, pageSize, ({ revision }) => [String(revision)]);
  }
  return sortedPage(query, pageSize, (range) => revisions.sorted(id, order, range));
}

const emptyOf = ({ namespace, name }: PublishedPackage): Html =>
  html`There is no revision yet. Push one with
    <code
      >${
        namespace === 'snap'
          ? `snapcraft upload ${name}_1.0_amd64.snap`
          : namespace === 'charm'
            ? `charmcraft upload ${name}.charm`
            : `larder package push ./${name} --package ${namespace}/${name}`
      }</code
    >.`;

const columnsOf = (subject: PublishedPackage, names: ConsoleActorNames): Column<Revision>[] => [
  {
    heading: 'Revision',
    sort: { key: 'revision', largestFirst: true },
    cell: ({ revision }) => html`<a href="${addressOf(subject, 'revisions', revision)}">${revision}</a>`,
  },
  { heading: 'Version', cell: ({ version }) => version },
  { heading: subject.namespace === 'snap' ? 'Architectures' : 'For', cell: (revision) => describeTargets(revision) },
  { heading: 'Size', number: true, sort: { key: 'size', largestFirst: true }, cell: (revision) => size(revision.size) },
  { heading: 'State', cell: (revision) => statusOf(revision) },
  { heading: 'When', cell: ({ createdAt }) => time(createdAt) },
  { heading: 'By', cell: ({ createdBy }) => names(createdBy) },
];

/** The maximum number of architectures or bases to show in a row. */
const maxTargets = 8;

/** The architectures of a snap, or the bases of a charm, as a list for people. */
export function describeTargets({ details: { architectures, bases } }: Revision): string {
  const all =
    architectures ?? bases?.map(({ name, channel, architecture }) => `${name} ${channel} ${architecture}`) ?? [];
  if (all.length === 0) return 'All';
  return all.length > maxTargets ? `${all.slice(0, maxTargets).join(', ')} and others` : all.join(', ');
}

/** The status of a revision in one word. */
export function statusOf({ status, withdrawnAt, deletedAt }: Revision): HtmlContent {
  if (deletedAt !== null) return badge('warn', 'deleted');
  if (withdrawnAt !== null) return badge('warn', 'withdrawn');
  return status === 'released' ? badge('good', status) : status;
}
