// The page about the use of the disk, and about the retention.
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { bar } from '../parts/charts.ts';
import { facts, pageSize, table } from '../parts/table.ts';
import { count, size } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { renderRetention } from './retention.ts';

interface OwnerStorageUsage {
  owner: string;
  packages: number;
  bytes: number;
}

/** A package with the maximum of bytes that its old revisions could free. */
interface PackageStorageUsage extends OwnerStorageUsage {
  old: number;
}

/** How many revisions are kept if the configuration says nothing. */
const defaultKeptRevisions = 10;
/** The maximum of old revisions of a package that are added up. */
const maxOldRevisions = 1000;

export const consoleStorage = screen({
  name: 'console_storage',
  path: '/console/storage',
  summary: 'List the publishers and packages that use the most disk space, and show what is kept for how long.',
  access: storeAdministrator('store-view'),

  async show({ records, disk, config, now }) {
    const { inventory, accounts } = records;
    const [whole, packages, publishers] = await Promise.all([
      inventory.bytes(),
      inventory.largestById(pageSize),
      inventory.largestPublishers(pageSize),
    ]);
    const packageUsages = await withOld(records, packages, config.revisions, now());
    const names = await accounts.byIds(publishers.map(({ owner }) => owner));
    return {
      title: 'Storage',
      lead: `All packages use ${size(whole)}. Shared content counts once.`,
      content: html`${room(disk(), config)}
        <h2>Largest publishers</h2>
        ${table<OwnerStorageUsage>({
          caption: 'Publishers by disk usage',
          columns: [
            { heading: 'Publisher', cell: ({ owner }) => publisher(owner, names.get(owner)?.username ?? owner) },
            { heading: 'Packages', cell: (usage) => count(usage.packages), number: true },
            { heading: 'On the disk', cell: (usage) => size(usage.bytes), number: true },
          ],
          rows: publishers,
          empty: 'No publisher has pushed a package yet.',
        })}
        <h2>Largest packages</h2>
        ${table<PackageStorageUsage>({
          caption: 'Packages by disk usage',
          columns: [
            { heading: 'Package', cell: ({ owner }) => html`<a href="/console/packages/${owner}">${owner}</a>` },
            { heading: 'On the disk', cell: (usage) => size(usage.bytes), number: true },
            {
              heading: `Old, keeping ${String(config.revisions.keep ?? defaultKeptRevisions)}`,
              cell: ({ old }) => (old === 0 ? 'nothing' : size(old)),
              number: true,
            },
          ],
          rows: packageUsages,
          empty: 'No package has been pushed yet.',
        })}
        <p class="hint">
          A revision is old if no channel, branch, build or pending release needs it and it is not among the newest that
          are kept. Content that several revisions share is freed only with the last of them, so deleting may free less.
        </p>
        ${renderRetention(config)}`,
    };
  },
});

/** The old revisions of each package by the retention of the configuration, or by the default above. */
async function withOld(
  { oldRevisions }: Pick<HandlerRecords, 'oldRevisions'>,
  packages: readonly (OwnerStorageUsage & { id: string })[],
  { keep = defaultKeptRevisions, older_than_days: age }: Services['config']['revisions'],
  now: Date,
): Promise<PackageStorageUsage[]> {
  const rule = { keep, channel: null, before: timestamp(after(now, -days(age))) };
  const usages: PackageStorageUsage[] = [];
  for (const { id, ...use } of packages) {
    const old = await oldRevisions.list(id, rule, [], maxOldRevisions);
    usages.push({ ...use, old: old.reduce((sum, revision) => sum + revision.size, 0) });
  }
  return usages;
}

const publisher = (id: string, name: string): Html =>
  html`<a href="/console/people/${encodeURIComponent(id)}">${name}</a>`;

function room(
  { diskFreeBytes: free, diskSizeBytes: whole }: ReturnType<Services['disk']>,
  { quotas, uploads }: Services['config'],
): Html {
  const words = `${size(free)} of ${size(whole)} are free`;
  return facts([
    ['Disk', html`${bar(1 - free / Math.max(1, whole), words)}<span>${words}.</span>`],
    ['Uploads stop at', `${size(uploads.reserve)} free (uploads.reserve)`],
    ['Quota of a publisher', quotas.bytes === undefined ? 'none (quotas.bytes)' : size(quotas.bytes)],
  ]);
}
