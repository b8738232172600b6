// What fills the disk.
import { storeAdministrator } from '#api/access.ts';
import { html, type Html } from '#api/pages/html.ts';
import type { Services } from '#api/services.ts';
import { bar } from '../parts/drawing.ts';
import { facts, pageSize, table } from '../parts/table.ts';
import { count, counted, size } from '../parts/values.ts';
import { screen } from '../screen.ts';

interface Use {
  owner: string;
  packages: number;
  bytes: number;
}

export const consoleStorage = screen({
  name: 'console_storage',
  path: '/console/storage',
  summary: 'Show what fills the disk: the publishers and the packages for whom most lies there.',
  access: storeAdministrator('store-view'),

  async show({ records, disk, config }) {
    const { inventory, accounts } = records;
    const [whole, packages, publishers] = await Promise.all([
      inventory.bytes(),
      inventory.largestPackages(pageSize),
      inventory.largestPublishers(pageSize),
    ]);
    const names = await accounts.byIds(publishers.map(({ owner }) => owner));
    return {
      title: 'Storage',
      lead: `${size(whole)} lie here for all packages, each content once.`,
      content: html`${room(disk(), config)}
        <h2>Publishers for whom most lies there</h2>
        ${table<Use>({
          caption: 'Publishers by what lies on the disk for them',
          columns: [
            { heading: 'Publisher', cell: ({ owner }) => publisher(owner, names.get(owner)?.username ?? owner) },
            { heading: 'Packages', cell: (one) => count(one.packages), number: true },
            { heading: 'On the disk', cell: (one) => size(one.bytes), number: true },
          ],
          rows: publishers,
          empty: 'Nobody has pushed anything yet.',
        })}
        <h2>Packages for which most lies there</h2>
        ${table<Use>({
          caption: 'Packages by what lies on the disk for them',
          columns: [
            { heading: 'Package', cell: ({ owner }) => html`<a href="/console/packages/${owner}">${owner}</a>` },
            { heading: 'On the disk', cell: (one) => size(one.bytes), number: true },
          ],
          rows: packages,
          empty: 'Nothing has been pushed yet.',
        })}`,
    };
  },
});

const publisher = (id: string, name: string): Html =>
  html`<a href="/console/people/${encodeURIComponent(id)}">${name}</a>`;

function room(
  { diskFreeBytes: free, diskSizeBytes: whole }: ReturnType<Services['disk']>,
  { quotas, revisions, uploads }: Services['config'],
): Html {
  const words = `${size(free)} of ${size(whole)} are free`;
  const { older_than_days: days, keep } = revisions;
  return facts([
    ['Disk', html`${bar(1 - free / Math.max(1, whole), words)}<span>${words}.</span>`],
    ['Uploads stop at', `${size(uploads.reserve)} free (uploads.reserve)`],
    ['Quota of a publisher', quotas.bytes === undefined ? 'none (quotas.bytes)' : size(quotas.bytes)],
    [
      'Old revisions',
      keep === undefined
        ? html`stay until somebody deletes them: <code>larder revision delete NAME --keep 10</code> shows first what
            would go and how much that frees; <code>revisions.keep</code> lets it happen by itself`
        : `${counted(keep, 'revision')} of each package stay, and what channels hold; others go after ${counted(days, 'day')} (revisions.keep)`,
    ],
  ]);
}
