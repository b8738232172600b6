// The revisions of a package, the newest first.
import { onPackage } from '#api/access.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { html, type Content, type Html } from '#api/pages/html.ts';
import { writeCursor } from '#operations/cursor.ts';
import { numberBefore } from '#operations/page.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Revision } from '#records/revisions.ts';
import { badge } from '../parts/notice.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { addressOf } from './address.ts';
import { namesOf, type Names } from './people.ts';

export const consoleRevisions = screen({
  name: 'console_revisions',
  path: '/console/packages/:namespace/:name/revisions',
  summary: 'Show the revisions of a package, the newest first.',
  access: onPackage('package-view-revisions'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, query, records }) {
    const before = numberBefore(query);
    return {
      title: `Revisions of ${subject.namespace}/${subject.name}`,
      content: html`${await revisionsBefore(records, subject, before)}
        <p><a href="${addressOf(subject)}">Back to the package</a></p>`,
    };
  },
});

/** A page of them, those before a number. */
export async function revisionsBefore(
  records: Pick<HandlerRecords, 'revisions' | 'accounts'>,
  subject: PublishedPackage,
  before: number,
): Promise<Html> {
  const found = await records.revisions.before(subject.id, before, pageSize + 1);
  const rows = found.slice(0, pageSize);
  const names = await namesOf(
    records,
    rows.map(({ createdBy }) => createdBy),
  );
  const last = rows.at(-1);
  const next =
    found.length > pageSize && last !== undefined
      ? `${addressOf(subject, 'revisions')}?cursor=${writeCursor([String(last.revision)])}`
      : undefined;
  return html`${table({ caption: 'Revisions', columns: columnsOf(subject, names), rows, empty: emptyOf(subject) })}
  ${nextPage(next)}`;
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

const columnsOf = (subject: PublishedPackage, names: Names): Column<Revision>[] => [
  {
    heading: 'Revision',
    cell: ({ revision }) => html`<a href="${addressOf(subject, 'revisions', revision)}">${revision}</a>`,
  },
  { heading: 'Version', cell: ({ version }) => version },
  { heading: subject.namespace === 'snap' ? 'Architectures' : 'For', cell: (one) => madeFor(one) },
  { heading: 'Size', number: true, cell: (one) => size(one.size) },
  { heading: 'State', cell: (one) => statusOf(one) },
  { heading: 'When', cell: ({ createdAt }) => time(createdAt) },
  { heading: 'By', cell: ({ createdBy }) => names(createdBy) },
];

/** So many architectures or bases are named in a row. */
const most = 8;

export function madeFor({ details: { architectures, bases } }: Revision): string {
  const all =
    architectures ?? bases?.map(({ name, channel, architecture }) => `${name} ${channel} ${architecture}`) ?? [];
  if (all.length === 0) return 'All';
  return all.length > most ? `${all.slice(0, most).join(', ')} and others` : all.join(', ');
}

/** How a revision stands, in a word. */
export function statusOf({ status, withdrawnAt, deletedAt }: Revision): Content {
  if (deletedAt !== null) return badge('warn', 'deleted');
  if (withdrawnAt !== null) return badge('warn', 'withdrawn');
  return status === 'released' ? badge('good', status) : status;
}
