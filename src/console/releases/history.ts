// The release history of a package, newest first.
import { onPackage } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { ConsoleHistoryQuery } from '#contract/wire.ts';
import { numberBefore, pageOf } from '#operations/page.ts';
import { pastReleaseText } from '#domain/releases/release-text.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { PastRelease } from '#records/releases/past-releases.ts';
import { withQuery } from '../parts/address.ts';
import { countBefore } from '../parts/sorting.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from '../packages/address.ts';
import { renderPackageHeader } from '../packages/package-header.ts';
import { readActorNames, type ConsoleActorNames } from '../packages/actor-names.ts';

export const consoleReleaseHistory = screen({
  name: 'console_release_history',
  path: '/console/packages/:namespace/:name/history',
  summary: 'List the releases of a package, newest first.',
  access: onPackage('package-view-releases'),
  query: 'ConsoleHistoryQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, query, records, principal } = call;
    const packageName = `${subject.namespace}/${subject.name}`;
    return {
      title: `Releases of ${packageName}`,
      heading: await renderPackageHeader(call, subject, 'history'),
      content: html`${await renderReleases(records, subject, query)}
      ${principal.storeAdministrator ? html`<p><a href="/console/audit?object=${encodeURIComponent(packageName)}">All changes of the package</a> in the audit log.</p>` : nothing}`,
    };
  },
});

/** A page of releases, newest first by default, with a link to the next page. */
async function renderReleases(
  records: Pick<HandlerRecords, 'pastReleases' | 'accounts'>,
  subject: PublishedPackage,
  query: ConsoleHistoryQuery,
): Promise<Html> {
  const { pastReleases } = records;
  const { sort = '' } = query;
  const releases = await (sort === 'when'
    ? pastReleases.oldest(subject.id, countBefore(query), pageSize + 1)
    : pastReleases.newest(subject.id, numberBefore(query), pageSize + 1));
  const { entries: rows, next } = pageOf(releases, pageSize, ({ seq }) => [String(seq)]);
  const names = await readActorNames(
    records,
    rows.map(({ releasedBy }) => releasedBy),
  );
  const historyAddress = addressOf(subject, 'history');
  return html`${table({
    caption: 'Releases',
    columns: columnsOf(subject, names),
    rows,
    sorting: { order: sort === '' ? '-when' : sort, address: (sort) => withQuery(historyAddress, { sort }) },
    empty: 'No revision has been released yet.',
  })}
  ${nextPage(next && withQuery(historyAddress, { sort, cursor: next }), sort === 'when' ? 'Newer releases' : 'Older releases')}`;
}

const columnsOf = (subject: PublishedPackage, names: ConsoleActorNames): Column<PastRelease>[] => [
  { heading: 'When', sort: { key: 'when', largestFirst: true }, cell: ({ releasedAt }) => time(releasedAt) },
  { heading: 'Channel', cell: ({ channel }) => channel },
  { heading: 'For', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
  {
    heading: 'What',
    cell: (past) =>
      past.revision === null
        ? 'Closed'
        : html`<a href="${addressOf(subject, 'revisions', past.revision)}">Revision ${pastReleaseText(past)}</a>`,
  },
  { heading: 'Before', cell: ({ before }) => (before === null ? 'Nothing' : `Revision ${String(before)}`) },
  { heading: 'By', cell: ({ releasedBy }) => names(releasedBy) },
];
