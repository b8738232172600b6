// The page of the known vulnerabilities of the store: by package, the coverage of the feeds, and the acceptances.
import { countFindings, countStoreFindings, type PackageFindingCounts } from '#acts/vulnerabilities/count-findings.ts';
import { overseer } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { writeCursor } from '#operations/cursor.ts';
import { numberIn, placeOf } from '#operations/page.ts';
import type { ListedAcceptance } from '#records/vulnerabilities/accepted-findings.ts';
import type { PresentFeed } from '#records/vulnerabilities/feeds.ts';
import { addressOf } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { hostCommand } from '../parts/host-command.ts';
import { badge } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, distance, formatCount, exactTime, identifier, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { feedUploadForm } from './feed-upload.ts';
import { addressOfRemoval } from './feeds.ts';
import { riskOf } from './package-findings.ts';

const address = '/console/vulnerabilities';

export const consoleVulnerabilities = screen({
  name: 'console_vulnerabilities',
  path: address,
  summary: 'Show the known vulnerabilities of the packages, the coverage of the feeds, and the acceptances.',
  access: overseer('auditor'),
  query: 'ConsolePageQuery',

  async show({ query, records, now, principal, browsing, config }) {
    const at = timestamp(now());
    const [from] = placeOf(query, ['0'] as const);
    const start = numberIn(from);
    const packages = await countFindings(records, at);
    const { exploitedFindings, findingCoverage, findings } = await countStoreFindings(records, at);
    const open = Object.values(findings).reduce((sum, number) => sum + number, 0);
    const more = packages.length > start + pageSize;
    return {
      title: 'Vulnerabilities',
      lead: `${formatCount(open, 'open finding')}, ${count(exploitedFindings)} known to be exploited.`,
      content: html`${coverageFacts(findingCoverage)} ${packagesTable(packages.slice(start, start + pageSize))}
        ${nextPage(more ? withQuery(address, { cursor: writeCursor([String(start + pageSize)]) }) : undefined)}
        <h2>Feeds</h2>
        ${feedsTable(await records.vulnerabilityFeeds.list(), now(), principal.storeAdministrator)}
        ${principal.storeAdministrator ? feedUploadForm(browsing, config) : nothing}
        ${hostCommand('larder feed import ./ubuntu-osv.zip', 'Import a feed on the host, from a file that was carried here:')}
        <h2>Accepted vulnerabilities</h2>
        ${acceptancesTable(await records.acceptedFindings.list(['', '', ''], maxAcceptances), now())}`,
    };
  },
});

/** The maximum number of acceptances to show, the first to end first. The command lists all. */
const maxAcceptances = 100;

/** The released revisions by coverage: without a feed for them, nothing is known about them. */
const coverageFacts = (coverage: Readonly<Record<string, number>>): Html =>
  facts([
    ['Released revisions that feeds cover', count(coverage['covered'] ?? 0)],
    ['Partly covered', count(coverage['partly-covered'] ?? 0)],
    ['Not covered by a feed', count((coverage['release-not-covered'] ?? 0) + (coverage['ecosystem-not-covered'] ?? 0))],
    ['Unknown contents', count((coverage['release-unknown'] ?? 0) + (coverage['no-bill'] ?? 0))],
    ['Not compared with the feeds yet', count(coverage['not-matched'] ?? 0)],
  ]);

const packagesTable = (packages: readonly PackageFindingCounts[]): Html =>
  table<PackageFindingCounts>({
    caption: 'Packages with open findings, the highest risk first',
    columns: [
      {
        heading: 'Package',
        cell: (entry) => html`<a href="${addressOf(entry)}"><bdi>${entry.namespace}/${entry.name}</bdi></a>`,
      },
      { heading: 'Known to be exploited', number: true, cell: ({ exploited }) => count(exploited) },
      { heading: 'Critical', number: true, cell: ({ open }) => count(open.critical) },
      { heading: 'High', number: true, cell: ({ open }) => count(open.high) },
      {
        heading: 'Lower',
        number: true,
        cell: ({ open }) => count(open.medium + open.low + open.negligible + open.unknown),
      },
      { heading: 'Accepted', number: true, cell: ({ accepted }) => count(accepted) },
    ],
    rows: packages,
    empty: html`No package has a known vulnerability, as far as feeds cover it. <code>larder feed import</code> imports
      a feed.`,
  });

const feedsTable = (feeds: readonly PresentFeed[], now: Date, canRemove: boolean): Html =>
  table<PresentFeed>({
    caption: 'Feeds of advisories by their names',
    columns: [
      { heading: 'Feed', cell: ({ source }) => html`<bdi>${source}</bdi>` },
      {
        heading: 'State',
        cell: ({ isInForce }) => (isInForce ? badge('good', 'in force') : badge('note', 'being indexed')),
      },
      {
        heading: 'Dated',
        cell: ({ datedAt }) =>
          html`<span>${exactTime(datedAt)} <span class="hint">${distance(datedAt, now)}</span></span>`,
      },
      { heading: 'Entries', number: true, cell: ({ entries }) => count(entries) },
      { heading: 'Releases', cell: ({ releases }) => (releases.length === 0 ? 'any' : releases.join(', ')) },
      { heading: 'Imported', cell: ({ importedAt }) => time(importedAt) },
      { heading: 'SHA-256', cell: ({ sha256 }) => identifier(sha256) },
      ...(canRemove
        ? [
            {
              heading: 'Remove',
              cell: ({ source }: PresentFeed) =>
                html`<a href="${addressOfRemoval(source)}">Remove<span class="unseen"> ${source}</span></a>`,
            },
          ]
        : []),
    ],
    rows: feeds,
    empty: 'No feed has been imported, so no vulnerability is known.',
  });

const acceptancesTable = (acceptances: readonly ListedAcceptance[], now: Date): Html =>
  table<ListedAcceptance>({
    caption: 'Accepted vulnerabilities, the first to end first',
    columns: [
      {
        heading: 'Vulnerability',
        cell: (accepted) =>
          html`<a class="key" href="${addressOf(accepted, 'vulnerabilities', accepted.vulnerability)}"
            >${accepted.vulnerability}</a
          >`,
      },
      { heading: 'Package', cell: ({ namespace, name }) => html`<bdi>${namespace}/${name}</bdi>` },
      { heading: 'Severity', cell: (accepted) => riskOf(accepted) },
      {
        heading: 'Until',
        cell: ({ until }) => html`<span>${exactTime(until)} <span class="hint">${distance(until, now)}</span></span>`,
      },
      { heading: 'Reason', cell: ({ reason }) => html`<bdi>${reason}</bdi>` },
    ],
    rows: acceptances,
    empty: 'No vulnerability is accepted.',
  });
