// What was ever put into the channels of a package, the newest first.
import { onPackage } from '#api/access.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { html, type Html } from '#api/pages/html.ts';
import { writeCursor } from '#operations/cursor.ts';
import { numberBefore } from '#operations/page.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { PastRelease } from '#records/past-releases.ts';
import { pageSize, table, type Column } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';
import { namesOf, type Names } from './people.ts';

export const consoleReleaseHistory = screen({
  name: 'console_release_history',
  path: '/console/packages/:namespace/:name/history',
  summary: 'Show what was released of a package and when, the newest first.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, query, records }) {
    return {
      title: `Releases of ${subject.namespace}/${subject.name}`,
      content: html`${await releasesBefore(records, subject, { before: numberBefore(query), most: pageSize })}
        <p><a href="${addressOf(subject)}">Back to the package</a></p>`,
    };
  },
});

/** So many of them, those before a number, with the way to the older ones. */
export async function releasesBefore(
  records: Pick<HandlerRecords, 'pastReleases' | 'accounts'>,
  subject: PublishedPackage,
  { before, most }: { before: number; most: number },
): Promise<Html> {
  const found = await records.pastReleases.newest(subject.id, before, most + 1);
  const rows = found.slice(0, most);
  const names = await namesOf(
    records,
    rows.map(({ releasedBy }) => releasedBy),
  );
  const last = rows.at(-1);
  const older =
    found.length > most && last !== undefined
      ? html`<p class="pager">
          <a href="${addressOf(subject, 'history')}?cursor=${writeCursor([String(last.seq)])}" rel="next"
            >Older releases</a
          >
        </p>`
      : undefined;
  return html`${table({ caption: 'Releases', columns: columnsOf(subject, names), rows, empty: 'Nothing was ever released.' })}
  ${older}`;
}

const columnsOf = (subject: PublishedPackage, names: Names): Column<PastRelease>[] => [
  { heading: 'When', cell: ({ releasedAt }) => time(releasedAt) },
  { heading: 'Channel', cell: ({ channel }) => channel },
  { heading: 'For', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
  {
    heading: 'What',
    cell: ({ revision, percentage, paused }) =>
      revision === null
        ? 'Closed'
        : html`<a href="${addressOf(subject, 'revisions', revision)}">Revision ${revision}</a>${
              percentage === null ? '' : ` to ${String(percentage)} %${paused === true ? ', paused' : ''}`
            }`,
  },
  { heading: 'Before', cell: ({ before }) => (before === null ? 'Nothing' : `Revision ${String(before)}`) },
  { heading: 'By', cell: ({ releasedBy }) => names(releasedBy) },
];
