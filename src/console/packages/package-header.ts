// The header of the pages of a package: its icon, title and health, and the tabs.
import { describeCoverage } from '#acts/vulnerabilities/effective-findings.ts';
import { listRevisionFindings, type FindingsOfRevision } from '#acts/vulnerabilities/revision-findings.ts';
import { timestamp } from '#domain/clock.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { IconName } from '../icons.ts';
import { icon, packageIcon } from '../parts/icon.ts';
import { badge } from '../parts/notice.ts';
import { tabs, type Tab } from '../parts/tiles.ts';
import { formatCount } from '../parts/values.ts';
import { addressOf } from './address.ts';

type PackageHeaderInput = Pick<Services, 'records' | 'now' | 'config'>;

/** The page below the address of a package that has a tab; empty for the package itself. */
export type PackageTab = '' | 'history' | 'revisions' | 'resources' | 'vulnerabilities' | 'usage' | 'collaborators';

/** The heading of a page of the package, and the tabs, with the present one marked. */
export async function renderPackageHeader(
  input: PackageHeaderInput,
  subject: PublishedPackage,
  current: PackageTab,
): Promise<Html> {
  const listed = await readFindings(input, subject);
  const isForeign = await input.records.accounts.isForeign(subject.publisherId);
  const { title, summary, license } = subject;
  return html`<div class="subject">
      ${packageIcon(subject)}
      <div>
        <h1>${subject.namespace}/${subject.name}</h1>
        ${title === null || title === subject.name ? nothing : html`<p class="title"><bdi>${title}</bdi></p>`}
        ${summary === null ? nothing : html`<p><bdi>${summary}</bdi></p>`}
        <ul class="marks">
          ${mark('person', 'Publisher', html`<bdi>${subject.publisher.username}</bdi>${isForeign ? ' of another store' : nothing}`)}
          ${license === null ? nothing : mark('law', 'Licence', html`<bdi>${license}</bdi>`)}
          ${subject.private ? mark('lock', 'Visibility', 'private') : nothing}
          <li>
            <a href="${addressOf(subject, 'vulnerabilities')}">${healthBadge(listed)}</a>
          </li>
        </ul>
      </div>
    </div>
    ${tabs('Pages of the package', tabsOf(subject, countOpen(listed)), addressOfTab(subject, current))}`;
}

const mark = (name: IconName, label: string, words: Html | string): Html =>
  html`<li>${icon(name)}<span class="unseen">${label}: </span><span>${words}</span></li>`;

const addressOfTab = (subject: PublishedPackage, tab: PackageTab): string =>
  tab === '' ? addressOf(subject) : addressOf(subject, tab);

const isWithDevices = ({ namespace }: PublishedPackage): boolean => namespace === 'snap';

/** Charms have resources, and snaps have components. */
export const hasResources = ({ namespace }: PublishedPackage): boolean => namespace === 'charm' || namespace === 'snap';

const tabsOf = (subject: PublishedPackage, open: number): Tab[] =>
  (
    [
      ['', 'Channels'],
      ['history', 'Activity'],
      ['revisions', 'Revisions'],
      ...(hasResources(subject) ? [['resources', 'Resources'] as const] : []),
      ['vulnerabilities', 'Vulnerabilities', open === 0 ? undefined : open],
      ['usage', isWithDevices(subject) ? 'Devices and downloads' : 'Downloads'],
      ['collaborators', 'Collaborators'],
    ] as const
  ).map(([tab, words, count]) => ({ words, address: addressOfTab(subject, tab), count }));

const readFindings = (
  { records, now, config }: PackageHeaderInput,
  subject: PublishedPackage,
): Promise<FindingsOfRevision[]> =>
  listRevisionFindings({ records, at: timestamp(now()), remember: config.devices.remember }, [subject]);

const countOpen = (listed: readonly FindingsOfRevision[]): number =>
  new Set(listed.flatMap(({ findings }) => findings.map(({ vulnerability }) => vulnerability))).size;

function healthBadge(listed: readonly FindingsOfRevision[]): Html {
  const open = countOpen(listed);
  if (open > 0) return badge('warn', formatCount(open, 'known vulnerability', 'known vulnerabilities'));
  if (listed.length === 0) return badge('note', 'nothing to check');
  return listed.some((revision) => describeCoverage(revision) !== undefined)
    ? badge('note', 'vulnerabilities partly unknown')
    : badge('good', 'no known vulnerability');
}
