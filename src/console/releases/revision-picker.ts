// The list of revisions to choose from in the release form.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { emptyState, table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { describeTargets, statusOf } from '../revisions/revisions.ts';

/** The number of revisions on a page. */
const maxRevisions = 8;

interface RevisionChoice {
  /** The number of the chosen revision; undefined for none. */
  chosen: string | undefined;
  /** The shown revisions are older than this one. */
  before: number;
  /** The address of this page with older revisions. */
  olderAddress(before: number): string;
}

export async function renderRevisionPicker(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  subject: PublishedPackage,
  { chosen, before, olderAddress }: RevisionChoice,
): Promise<Html> {
  const listed = await revisions.before(subject.id, before, maxRevisions + 1);
  const shown = listed.slice(0, maxRevisions);
  const isListed = chosen === undefined || shown.some(({ revision }) => String(revision) === chosen);
  const rows = [...(isListed ? [] : await revisions.listOf(subject.id, [Number(chosen)])), ...shown];
  if (rows.length === 0) return emptyState('There is no revision to release yet. Push one first.');
  const oldest = shown.at(-1)?.revision;
  return html`${table<Revision>({
    caption: 'Revisions to choose from',
    columns: [
      {
        heading: 'Revision',
        cell: ({ revision, withdrawnAt, deletedAt }) =>
          html`<label class="tick"
            ><input
              type="radio"
              name="revision"
              value="${revision}"
              required
              ${String(revision) === chosen ? html`checked` : nothing}
              ${withdrawnAt === null && deletedAt === null ? nothing : html`disabled`}
            />
            ${revision}</label
          >`,
      },
      { heading: 'Version', cell: ({ version }) => version },
      { heading: 'Pushed', cell: ({ createdAt }) => time(createdAt) },
      ...(subject.namespace === 'snap'
        ? [{ heading: 'Grade', cell: ({ details }: Revision) => details.grade ?? 'stable' }]
        : []),
      { heading: 'For', cell: (revision) => describeTargets(revision) },
      { heading: 'State', cell: (revision) => statusOf(revision) },
    ],
    rows,
    empty: '',
  })}
  ${listed.length > maxRevisions && oldest !== undefined ? html`<p class="hint"><a href="${olderAddress(oldest)}">Older revisions</a></p>` : nothing}`;
}
