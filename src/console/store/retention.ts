// What the store keeps for how long, by the settings of the jobs that delete.
import { html, joined, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { withQuery } from '../parts/address.ts';
import { hostCommand } from '../parts/host-command.ts';
import { table } from '../parts/table.ts';
import { formatCount } from '../parts/values.ts';

interface RetentionRow {
  subject: string;
  duration: HtmlContent;
  /** The dotted names of the settings that decide. */
  settings: readonly string[];
}

export const renderRetention = (config: Services['config']): Html =>
  html`<h2>Retention</h2>
    ${table<RetentionRow>({
      caption: 'What is kept for how long, and the settings that decide',
      columns: [
        { heading: 'What', cell: ({ subject }) => subject },
        { heading: 'Kept', cell: ({ duration }) => html`<span>${duration}</span>` },
        { heading: 'Settings', cell: ({ settings }) => html`<span>${settingLinks(settings)}</span>` },
      ],
      rows: rowsOf(config),
      empty: '',
    })}
    ${hostCommand('larder config set revisions.keep 50', 'Change a setting on the host:')}`;

const rowsOf = ({
  revisions,
  uploads,
  collaborators,
  approvals,
  identity,
  sessions,
}: Services['config']): RetentionRow[] => [
  {
    subject: 'Old revisions',
    duration: keptRevisions(revisions),
    settings: ['revisions.keep', 'revisions.older_than_days'],
  },
  {
    subject: 'Uploads that no package has claimed',
    duration: `${formatCount(uploads.unclaimed_hours, 'hour')} after their last bytes`,
    settings: ['uploads.unclaimed_hours'],
  },
  {
    subject: 'Open invites to collaborate',
    duration: formatCount(collaborators.invite_days, 'day'),
    settings: ['collaborators.invite_days'],
  },
  { subject: 'Open proposals', duration: formatCount(approvals.days, 'day'), settings: ['approvals.days'] },
  {
    subject: 'Tokens',
    duration: `at most ${formatCount(identity.longest_token_days, 'day')}`,
    settings: ['identity.longest_token_days'],
  },
  {
    subject: 'Sessions of the console',
    duration: `${formatCount(sessions.idle_minutes, 'minute')} without a request, and at most ${formatCount(sessions.max_hours, 'hour')}`,
    settings: ['sessions.idle_minutes', 'sessions.max_hours'],
  },
  { subject: 'The audit log', duration: 'for good', settings: [] },
];

const keptRevisions = ({ keep, older_than_days: age }: Services['config']['revisions']): HtmlContent =>
  keep === undefined
    ? html`until they are deleted. <code>larder revision delete NAME --keep 10</code> first shows the revisions and the
        freed space`
    : `the newest ${formatCount(keep, 'revision')} of each package, those of the last ${formatCount(age, 'day')}, and all in channels`;

const settingLinks = (settings: readonly string[]): HtmlContent =>
  settings.length === 0
    ? 'none'
    : joined(
        settings.map(
          (name) =>
            html`<a href="${withQuery('/console/settings', { q: name })}"
              ><code class="key">${joined(name.split(/(?<=[._])/), html`<wbr />`)}</code></a
            >`,
        ),
        html`, `,
      );
